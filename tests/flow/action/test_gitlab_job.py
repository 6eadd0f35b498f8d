"""A job of GitLab's runner, from what started it to what it leaves."""

from pathlib import Path
from xml.etree import ElementTree as ET

from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.fake import MERGE_REQUEST
from tests.fakes.gitlab.state import Level
from tests.fakes.llm.turns import call
from tests.flow.action.gitlab_job import PROJECT, Pipelines, pipelines
from tests.flow.script import in_turn
from tests.flow.story import MODEL_KEY, NEW_TEST, fix_turns

ANSWER = call("finish", summary="x", answer="It adds the prices.")
WISH = "@patchwright please fix the sum"


def open_issue(scene: Pipelines) -> int:
    return scene.gitlab.open_issue(PROJECT, "alice", "Wrong sum", "The total is wrong.")


def test_a_note_ends_in_a_merge_request_and_every_fact_is_an_output(
    tmp_path: Path,
) -> None:
    with pipelines(tmp_path, fix_turns()) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "alice", WISH)
        ended = scene.deliver()
        assert (ended.end, ended.code) == (("resolved", ""), 0)
        [merge_request] = scene.gitlab.merge_requests(PROJECT)
        assert merge_request.draft
        outputs = ended.outputs
        assert outputs["pr-number"] == str(merge_request.number)
        assert outputs["pr-url"].endswith(f"/-/merge_requests/{merge_request.number}")
        assert outputs["branch"] == f"patchwright/{number}-wrong-sum"
        assert outputs["head-sha"] == merge_request.head_sha
        assert (outputs["tests-before"], outputs["tests-after"]) == (
            "failed (exit 1)",
            "passed",
        )
        notes = scene.gitlab.comments(PROJECT, number)
        [status] = [one for one in notes if "patchwright:state=" in one.body]
        assert outputs["comment-url"].endswith(f"/issues/{number}#note_{status.id}")
        assert ended.dotenv["PATCHWRIGHT_OUTPUT_PROOF"] == "proven"
        assert ended.dotenv["PATCHWRIGHT_OUTPUT_PATCH_FILE"] == (
            ".patchwright-run/change.patch"
        )
        root = ET.parse(ended.folder / "junit.xml").getroot()
        assert not list(root.iter("failure"))
        assert len(list(root.iter("testcase"))) >= 3
        for file in ended.folder.iterdir():
            text = file.read_text("utf-8")
            assert scene.token not in text
            assert MODEL_KEY not in text


def test_each_request_of_a_webhook_starts_a_run(tmp_path: Path) -> None:
    with pipelines(tmp_path, in_turn(*[ANSWER] * 3)) as scene:
        gitlab = scene.gitlab
        number = open_issue(scene)
        gitlab.comment(PROJECT, number, "alice", "Who knows this?")
        plain = scene.newest()
        gitlab.comment(PROJECT, number, "alice", "@patchwright what does it do?")
        assert scene.deliver().end == ("answered", "")
        gitlab.label(PROJECT, number, "patchwright", "alice")
        assert scene.deliver().end == ("answered", "")
        gitlab.open_issue(PROJECT, "alice", "Help", "@patchwright what does it do?")
        assert scene.deliver().end == ("answered", "")
        ended = scene.send(plain)
        assert (ended.end, ended.code) == (("refused", "not-asked"), 0)
        assert ended.outputs["summary"] == (
            "There is no request (no-mention): a pipeline by trigger (note), of "
            "owner. This job starts on the mention `@patchwright`, the label "
            f"`patchwright`, an assignment of `{scene.bot}`. The webhook must send the "
            "events for it, and the `rules:` of the job must let them in."
        )


def test_who_may_not_write_is_refused_whatever_they_start(tmp_path: Path) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "eve", WISH)
        assert scene.deliver().end == ("refused", "not-permitted")
        asked = scene.run(by="eve", issue_number=str(number))
        assert asked.end == ("refused", "not-permitted")


def test_a_webhook_cannot_speak_for_somebody_else(tmp_path: Path) -> None:
    """Whoever knows the trigger's token may send what they like."""
    with pipelines(tmp_path, in_turn()) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "eve", WISH)
        forged = scene.newest()
        scene.gitlab.comment(PROJECT, number, "alice", "@patchwright is it wrong?")
        alice = scene.newest()
        by_alice = {
            **forged["object_attributes"],
            "author_id": alice["object_attributes"]["author_id"],
        }
        for payload in (
            {**forged, "user": alice["user"], "object_attributes": by_alice},
            {
                **alice,
                "object_attributes": {**alice["object_attributes"], "note": WISH},
            },
        ):
            ended = scene.send(payload)
            assert ended.end == ("refused", "not-asked")
            assert "(not-confirmed)" in ended.outputs["summary"]


def test_a_label_that_only_a_webhook_tells_of_needs_the_owner_of_the_trigger_too(
    tmp_path: Path,
) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        number = open_issue(scene)
        scene.gitlab.label(PROJECT, number, "patchwright", "alice")
        assert scene.deliver(by="eve").end == ("refused", "not-permitted")


def test_what_is_of_another_project_or_no_request_starts_nothing(
    tmp_path: Path,
) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "alice", WISH)
        newest = scene.newest()
        other = {**newest, "project": {**newest["project"], "id": 999}}
        assert "(other-project)" in scene.send(other).outputs["summary"]
        scene.gitlab.commit_files(PROJECT, "main", {"x": "y"}, author="alice")
        ended = scene.deliver()
        assert ended.end == ("refused", "not-asked")


def test_a_person_starts_it_by_variables(tmp_path: Path) -> None:
    with pipelines(tmp_path, in_turn(ANSWER, ANSWER, ANSWER)) as scene:
        number = open_issue(scene)
        assert scene.run(issue_number=str(number)).end == ("answered", "")
        merge_request = propose(scene)
        seen = scene.run(merge_request_number=str(merge_request), mode="answer")
        assert seen.end == ("answered", "")
        assert scene.gitlab.comments(PROJECT, merge_request, MERGE_REQUEST)
        task = scene.run(task="What does `total` do?")
        assert task.end == ("answered", "")
        assert task.outputs["comment-url"] == ""


def test_a_trigger_without_a_webhook_is_told_what_to_set(tmp_path: Path) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        ended = scene.send({})
        assert (ended.end, ended.code) == (("failed", "configuration"), 1)
        assert ended.outputs["summary"] == (
            "the pipeline (`trigger`) has no thread: set one of "
            "PATCHWRIGHT_ISSUE_NUMBER, PATCHWRIGHT_MERGE_REQUEST_NUMBER and "
            "PATCHWRIGHT_TASK, or start it by a webhook"
        )


def test_a_plan_waits_in_the_thread_for_a_yes(tmp_path: Path) -> None:
    plan = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
    with pipelines(tmp_path, in_turn(plan, *fix_turns())) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "alice", "@patchwright plan a fix")
        assert scene.deliver().end == ("plan-posted", "plan")
        scene.gitlab.comment(PROJECT, number, "alice", "@patchwright approve")
        assert scene.deliver().end == ("resolved", "")


def propose(scene: Pipelines, *, fork: str = "") -> int:
    """Open a merge request that mends the sum, with a test for it."""
    files = {
        "cart.py": "def total(prices, pieces):\n"
        "    return sum(p * n for p, n in zip(prices, pieces))\n",
        "test_pieces.py": NEW_TEST,
    }
    scene.gitlab.commit_files(fork or PROJECT, "mend", files, author="alice")
    proposal = Proposal(title="Mend it", source="mend", target="main", fork=fork)
    return scene.gitlab.open_merge_request(PROJECT, "alice", proposal)


def test_a_merge_request_is_proven_in_its_own_pipeline(tmp_path: Path) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        number = propose(scene)
        ended = scene.run(
            source="merge_request_event",
            CI_MERGE_REQUEST_IID=str(number),
            CI_MERGE_REQUEST_SOURCE_PROJECT_ID=str(scene.project_id),
            test="python3 -m unittest -v",
            llm_model="",
        )
        assert (ended.end, ended.code) == (("answered", ""), 0)
        assert ended.outputs["proof"] == "proven"
        [note] = scene.gitlab.comments(PROJECT, number, MERGE_REQUEST)
        assert "🟢 **Proven**:" in note.body
        assert ended.outputs["comment-url"].endswith(f"#note_{note.id}")
        names = [
            one.get("name")
            for one in ET.parse(ended.folder / "junit.xml").getroot().iter("testcase")
        ]
        assert "The change is proven" in names


def test_a_forks_merge_request_is_proven_from_the_default_branch_alone(
    tmp_path: Path,
) -> None:
    with pipelines(tmp_path, in_turn()) as scene:
        fork = scene.gitlab.fork(PROJECT, "eve")
        scene.gitlab.grant(fork, "alice", Level.DEVELOPER)
        number = propose(scene, fork=fork)
        own = scene.run(
            source="merge_request_event",
            CI_MERGE_REQUEST_IID=str(number),
            CI_MERGE_REQUEST_SOURCE_PROJECT_ID="999",
        )
        assert (own.end, own.code) == (("failed", "fork"), 1)
        ended = scene.run(
            merge_request_number=str(number),
            prove_only="true",
            test="python3 -m unittest -v",
        )
        assert ended.outputs["proof"] == "proven"
