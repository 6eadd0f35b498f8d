"""A request becomes a proven pull request, in a job of a workflow."""

import json
from pathlib import Path

import pytest

from tests.action.promises import steady_summary
from tests.action.scene import ALICE, WISH, playing
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.reviews import Remark, Spot
from tests.fakes.llm.turns import call
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.runner.expressions.values import Value

# A machine with much else to do takes minutes for what usually takes seconds.
pytestmark = pytest.mark.timeout(600)

ANSWER = call("finish", summary="Looked.", answer="Since it sums the prices.")
PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
TASK = "The total ignores the pieces\n\n`total([450], [3])` is 450, and not 1350."
SUMMARY = """\
**Done, proven** · #2 (draft) · 4 steps · Ns · 480 tokens, price unknown · 2 files, +9 -1

🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with \
it, and no test that passed before fails now.

The agent wrote:

> The total ignored the pieces.

<details><summary>Evidence: 4 commands, run by the controller in fresh sandboxes</summary>

| test | without the change | with it | why it failed without |
|---|---|---|---|
| `test_pieces.PiecesTest.test_every_piece_counts` | 🔴 failed | 🟢 passed | \
`AssertionError: 450 != 1350` |

Each part that was tried is needed: the tests fail without it (1 of 1 changed part \
removed in turn).

The repository's own tests, `python3 -m unittest test_cart.py`: 1 test compared.

| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `python3 -m unittest test_pieces` | `COMMIT` | 🔴 exit 1 | N s |
| with it | `python3 -m unittest test_pieces` | `COMMIT` | 🟢 exit 0 | N s |
| own tests, without it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | N s |
| own tests, with it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | N s |

</details>

<sub>run RUN · requested by alice · thread read at TIME · model openai/scripted</sub>

[pull request](GITHUB/acme/shop/pull/2) · [comment](GITHUB/acme/shop/issues/1#issuecomment-1010)

| output | |
|---|---|
| `outcome` | `resolved` |
| `base-sha` | `SHA` |
| `tests-before` | `failed (exit 1)` |
| `tests-after` | `passed` |
| `proof` | `proven` |
| `tokens-in` | `400` |
| `tokens-out` | `80` |
| `model` | `openai/scripted` |
| `iterations` | `4` |
| `duration-seconds` | `N` |
| `run-id` | `RUN` |
| `removed-content-count` | `0` |
| `blocked-requests-count` | `0` |
| `pr-number` | `2` |
| `pr-url` | `GITHUB/acme/shop/pull/2` |
| `branch` | `patchwright/1-wrong-sum` |
| `head-sha` | `SHA` |
| `comment-url` | `GITHUB/acme/shop/issues/1#issuecomment-1010` |
| `trajectory-file` | `TEMP/patchwright-KEY/artifacts/trajectory.jsonl` |
| `evidence-file` | `TEMP/patchwright-KEY/artifacts/evidence.json` |
| `patch-file` | `TEMP/patchwright-KEY/artifacts/change.patch` |
| `receipt-file` | `TEMP/patchwright-KEY/artifacts/receipt.json` |
"""  # noqa: E501 - tables as they are written


def test_a_comment_becomes_a_proven_pull_request(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        issue = scene.ask("The total is wrong.")
        scene.say(issue)
        run = scene.run()
        [pull] = scene.github.pull_requests(REPO)
        run.said(
            outcome="resolved",
            error_code="",
            summary="The total ignored the pieces.",
            pr_number=str(pull.number),
            pr_url=f"{scene.github.web_url}/{REPO}/pull/{pull.number}",
            branch="patchwright/1-wrong-sum",
            head_sha=pull.head_sha,
            tests_before="failed (exit 1)",
            tests_after="passed",
            proof="proven",
            cost_usd="",
            model="openai/scripted",
            structured_output="",
            left_out="",
        )
        assert not run.failed
        assert steady_summary(run.job).strip() == SUMMARY.strip()
        assert f"`{pull.head_sha[:10]}`" in run.summary
        assert scene.reply(issue).startswith("**Done, proven** · #2 (draft)")


def test_the_artifact_has_the_four_files(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        scene.ask()
        run = scene.run()
        files = run.artifact()
        assert files.keys() == {
            "change.patch",
            "evidence.json",
            "receipt.json",
            "trajectory.jsonl",
        }
        receipt = json.loads(files["receipt.json"])
        assert receipt["head_sha"] == run["head-sha"]
        assert b"sum(p * n for p, n in zip(prices, pieces))" in files["change.patch"]


def test_two_uses_in_a_job_share_the_set_up_and_no_artifact(tmp_path: Path) -> None:
    with playing(tmp_path, [ANSWER, ANSWER]) as scene:
        scene.ask("@patchwright why is it so?")
        job = scene.make_job(*scene.happened())
        assert scene.use(job)["outcome"] == "answered"
        assert scene.use(job)["outcome"] == "answered"
        assert len(job.artifacts.kept) == 2
        assert len(list(job.machine.temp.glob("patchwright-venv-*"))) == 1


def test_a_label_on_an_issue_is_a_request(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        issue = scene.ask("The total is wrong.")
        scene.github.label(REPO, issue, "patchwright", ALICE)
        assert scene.run()["outcome"] == "resolved"


def test_s04_a_label_on_a_pull_request_works_on_its_branch(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        pull = scene.open_pull()
        scene.github.label(REPO, pull, "patchwright", ALICE)
        assert scene.happened()[0] == "pull_request"
        run = scene.run()
        [seen] = scene.github.pull_requests(REPO)
        run.said(
            outcome="resolved",
            branch="topic",
            pr_number=str(pull),
            head_sha=seen.head_sha,
        )


def test_s05_a_comment_on_a_pull_request_needs_no_label(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        pull = scene.open_pull()
        scene.say(pull)
        run = scene.run()
        run.said(outcome="resolved", branch="topic", pr_number=str(pull))


def test_a_review_is_one_run_with_all_its_comments(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        pull = scene.open_pull()
        reviews.submit_review(
            scene.github.world,
            REPO,
            pull,
            author=ALICE,
            body=WISH,
            remarks=[Remark(spot=Spot(path="note.md", line=1), body="Say what it is")],
        )
        told = scene.github.delivery("pull_request_review")
        event: Value = json.loads(told.body)
        run = scene.run((told.event, event))
        run.said(outcome="resolved", branch="topic")
        assert "Say what it is" in str(scene.provider.requests[0])


def test_a_dispatch_may_name_the_issue(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        issue = scene.ask("The total is wrong.")
        run = scene.run(("workflow_dispatch", {}), issue_number=str(issue))
        run.said(outcome="resolved", branch="patchwright/1-wrong-sum")


def test_a_dispatch_may_name_the_comment(tmp_path: Path) -> None:
    with playing(tmp_path, [ANSWER]) as scene:
        issue = scene.ask("The total is wrong.")
        comment = scene.say(issue, "@patchwright why is it so?")
        scene.say(issue, "@patchwright and this?")
        run = scene.run(("workflow_dispatch", {}), comment_id=str(comment))
        run.said(outcome="answered", summary="Since it sums the prices.")
        assert "why is it so?" in str(scene.provider.requests[0])


def test_a_task_needs_no_issue(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        run = scene.run(("workflow_dispatch", {}), task=TASK)
        run.said(outcome="resolved", comment_url="")
        assert len(scene.github.pull_requests(REPO)) == 1


def test_another_service_may_send_the_task(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        payload: Value = {"client_payload": {"task": TASK}}
        run = scene.run(("repository_dispatch", payload))
        run.said(outcome="resolved", comment_url="")


def test_a_question_becomes_no_branch(tmp_path: Path) -> None:
    with playing(tmp_path, [ANSWER]) as scene:
        issue = scene.ask("@patchwright fix the sum")
        run = scene.run(mode="answer")
        run.said(outcome="answered", branch="", pr_number="", head_sha="")
        assert "Since it sums the prices." in scene.reply(issue)


def test_a_plan_is_carried_out_by_a_later_run(tmp_path: Path) -> None:
    with playing(tmp_path, in_turn(PLAN, *fix_turns())) as scene:
        issue = scene.ask()
        scene.run(plan_approval="comment").said(outcome="plan-posted", branch="")
        assert "2. Fix it." in scene.reply(issue)
        scene.say(issue, "@patchwright approve")
        scene.run(plan_approval="comment").said(outcome="resolved", pr_number="2")


def test_a_rehearsal_writes_nothing(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        issue = scene.ask()
        before = len(scene.github.requests)
        run = scene.run(dry_run="true")
        assert run["tests-after"] == "passed"
        assert scene.replies(issue) == []
        assert scene.github.pull_requests(REPO) == []
        wrote = [
            f"{one.method} {one.path}"
            for one in scene.github.requests[before:]
            if one.method not in {"GET", "HEAD"}
            and "git-upload-pack" not in one.path
            and not one.path.endswith("/graphql")
        ]
        assert wrote == []
