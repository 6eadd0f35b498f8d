"""A pull request of anybody's is proven, and says so in one comment."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.github.acts.pulls import Proposal
from tests.flow.action.step import Said, Step, Workflow, a_step
from tests.flow.story import CART, MODEL_KEY, NEW_TEST, REPO
from tests.provision.waiting import wait_until

FIXED = CART.replace("sum(prices)", "sum(p * n for p, n in zip(prices, pieces))")
BROKEN = CART.replace("sum(prices)", "sum(prices) - 1")
COMMAND = "python3 -m unittest test_pieces"
PATIENCE_S = 60
RIGHTS = {"contents": "read", "pull_requests": "write"}


def open_pull(
    step: Step,
    cart: str = FIXED,
    author: str = "alice",
    test: str | None = NEW_TEST,
) -> int:
    """Let somebody open a pull request, from a fork if it is eve's."""
    is_fork = author == "eve"
    if is_fork:
        step.github.fork(REPO, author)
    repo = f"{author}/shop" if is_fork else REPO
    push(step, cart, repo, test)
    head = f"{author}:topic" if is_fork else "topic"
    proposal = Proposal(title="Count every piece", head=head, base="main")
    return step.github.open_pull_request(REPO, author, proposal)


def push(step: Step, cart: str, repo: str = REPO, test: str | None = NEW_TEST) -> None:
    files = {"cart.py": cart}
    if test is not None:
        files["test_pieces.py"] = test
    author = repo.partition("/")[0] if repo != REPO else "alice"
    step.github.commit_files(repo, "topic", files, author=author)


def prove(step: Step, workflow: Workflow | None = None, **inputs: str) -> Said:
    """Use the Action for the newest delivery, in a job without a key of a model."""
    given = {"prove_only": "true", "llm_model": "", "test": COMMAND}
    return step.deliver(workflow or Workflow(), **{**given, **inputs})


def comments(step: Step, number: int) -> list[str]:
    return [one.body for one in step.github.comments(REPO, number)]


def test_a_true_fix_of_somebody_else_is_proven_without_a_model(tmp_path: Path) -> None:
    with a_step(tmp_path, [], variables={"LLM_API_KEY": ""}) as step:
        number = open_pull(step)
        said = prove(step)
        assert (said.end, said.grade) == (("answered", ""), "good"), said.summary
        [comment] = comments(step, number)
        assert comment.startswith("🟢 **Proven**: in fresh sandboxes, ")
        [pull] = step.github.pull_requests(REPO)
        assert f"<!-- patchwright:proof head={pull.head_sha} -->" in comment
        outputs = said.outputs
        assert outputs["proof"] == "proven"
        assert outputs["pr-number"] == str(number)
        assert outputs["head-sha"] == pull.head_sha
        assert outputs["tests-before"] == "failed (exit 1)"
        assert outputs["tests-after"] == "passed"
        assert json.loads(outputs["evidence"])["proof"] == "proven"
        told = json.loads(Path(outputs["evidence-file"]).read_text("utf-8"))
        assert (told["proof"], told["head_sha"]) == ("proven", pull.head_sha)
        address = f"{step.github.web_url}/{REPO}/pull/{number}"
        assert outputs["comment-url"].startswith(f"{address}#issuecomment-")
        assert "🟢 **Proven**" in said.summary
        assert "| `proof` | `proven` |" in said.summary
        assert step.provider.requests == []


def test_a_change_that_fails_its_own_test_is_contradicted(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step, BROKEN)
        said = prove(step)
        assert said.end == ("needs-input", "contradicted"), said.summary
        assert said.grade == "unresolved"
        [comment] = comments(step, number)
        assert comment.startswith("🔴 **Contradicted**: ")
        assert "AssertionError" in comment


def test_what_is_green_without_the_change_is_not_proven(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step, test=None)
        said = prove(step, test="python3 -m unittest test_cart")
        assert said.end == ("answered", "green-without-change")
        assert said.grade == "unproven"
        [comment] = comments(step, number)
        assert comment.startswith("🟡 **Not proven**: ")


def test_the_next_push_edits_the_one_comment(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step, BROKEN)
        first = prove(step)
        push(step, FIXED)
        assert step.github.deliveries[-1].event == "pull_request"
        second = prove(step)
        [comment] = comments(step, number)
        assert comment.startswith("🟢 **Proven**: ")
        [pull] = step.github.pull_requests(REPO)
        assert f"head={pull.head_sha} -->" in comment
        assert first.outputs["comment-url"] == second.outputs["comment-url"]


def test_a_forks_change_is_proven_in_the_sandbox_alone(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        spy = (
            f"import os, pathlib\n{FIXED}\n"
            "print(sorted(os.environ.items()))\n"
            "print(pathlib.Path('.git/config').read_text())\n"
        )
        number = open_pull(step, spy, author="eve")
        event = step.event()
        given = {"prove_only": "true", "llm_model": "", "test": COMMAND}
        said = step.use("pull_request_target", event, Workflow(actor="eve"), **given)
        assert said.outputs["proof"] == "proven", said.summary
        [comment] = comments(step, number)
        evidence = Path(said.outputs["evidence-file"]).read_text("utf-8")
        assert "PATCHWRIGHT" not in comment
        for secret in (step.token, MODEL_KEY):
            assert secret not in evidence
            assert secret not in comment


def test_a_token_that_may_only_read_still_proves_and_says_why_nothing_is_there(
    tmp_path: Path,
) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step, author="eve")
        rights = {"contents": "read", "pull_requests": "read"}
        token = step.github.mint_actions_token(REPO, rights)
        workflow = Workflow(actor="eve", has_job_token=True)
        said = prove(step, workflow, github_token=token)
        assert said.outputs["proof"] == "proven", said.summary
        assert said.outputs["comment-url"] == ""
        assert "`pull_request_target`" in said.summary
        assert comments(step, number) == []


def test_the_jobs_own_token_finds_its_comment_again(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step)
        token = step.github.mint_actions_token(REPO, RIGHTS)
        workflow = Workflow(has_job_token=True)
        prove(step, workflow, github_token=token)
        prove(step, workflow, github_token=token)
        assert len(comments(step, number)) == 1


def test_settings_of_the_pull_request_itself_do_not_count(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        files = {
            "cart.py": FIXED,
            "test_pieces.py": NEW_TEST,
            ".patchwright.toml": 'setup = ["exit 1"]\ntest = ["true"]\n',
        }
        step.github.commit_files(REPO, "topic", files, author="alice")
        proposal = Proposal(title="Sum", head="topic", base="main")
        step.github.open_pull_request(REPO, "alice", proposal)
        assert prove(step).outputs["proof"] == "proven"


def test_a_set_up_that_fails_is_an_error_and_on_the_pull_request(
    tmp_path: Path,
) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step)
        said = prove(step, setup="echo no; exit 3")
        assert (said.end, said.grade) == (("failed", "sandbox"), "error")
        [comment] = comments(step, number)
        assert comment.startswith("🟡 **Not proven**: no fresh sandbox could be used")
        assert "set-up failed" in comment


def test_a_dry_run_writes_no_comment(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step)
        said = prove(step, dry_run="true")
        assert said.outputs["proof"] == "proven"
        assert comments(step, number) == []
        assert "**Dry run**" in said.summary


def test_an_event_without_a_pull_request_says_what_is_missing(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        said = step.use("push", {}, prove_only="true", llm_model="")
        assert said.end == ("failed", "configuration")
        assert "`issue-number`" in said.outputs["summary"]
        number = step.github.open_issue(REPO, "alice", "Wrong sum", "The total.")
        said = prove(step, issue_number=str(number))
        assert said.end == ("failed", "configuration")
        assert (
            f"#{number} of acme/shop is not a pull request" in said.outputs["summary"]
        )


def test_a_pull_request_can_be_named_by_its_number(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step)
        given = {"prove_only": "true", "llm_model": "", "test": COMMAND}
        given["issue_number"] = str(number)
        said = step.use("workflow_dispatch", {}, Workflow(), **given)
        assert said.outputs["proof"] == "proven", said.summary
        assert len(comments(step, number)) == 1


@contextmanager
def pushed_meanwhile(step: Step, then: Callable[[], object] = bool) -> Iterator[None]:
    """Push the fix as soon as the proof of what was there has begun."""

    def act() -> None:
        wait_until(
            lambda: any(step.folder.glob("*/events.jsonl")), "the proof", PATIENCE_S
        )
        push(step, FIXED)
        then()

    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act)
        yield
        acting.result(PATIENCE_S)


def test_a_push_during_the_proof_is_named_in_the_comment(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        number = open_pull(step, BROKEN)
        [pull] = step.github.pull_requests(REPO)
        with pushed_meanwhile(step):
            said = prove(step, setup="sleep 2")
        assert said.outputs["head-sha"] == pull.head_sha
        [now] = step.github.pull_requests(REPO)
        [comment] = comments(step, number)
        assert f"the pull request has moved on to `{now.head_sha[:10]}`" in comment


def test_a_proof_that_comes_late_leaves_the_newer_one(tmp_path: Path) -> None:
    """Two pushes in a row start two jobs; the older one may end last."""
    with a_step(tmp_path, []) as step:
        number = open_pull(step, BROKEN)

        def prove_elsewhere() -> None:
            [pull] = step.github.pull_requests(REPO)
            text = f"Proven.\n\n<!-- patchwright:proof head={pull.head_sha} -->"
            step.github.comment(REPO, number, "robot", text)

        with pushed_meanwhile(step, prove_elsewhere):
            said = prove(step, setup="sleep 2")
        assert said.outputs["comment-url"] == ""
        assert "A newer proof is on the pull request already." in said.summary
        [comment] = comments(step, number)
        assert comment.startswith("Proven.")


def test_without_prove_only_a_model_is_still_needed(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        open_pull(step)
        said = step.deliver(llm_model="")
        assert said.end == ("failed", "configuration")
        assert said.outputs["summary"] == "input `llm-model` must be set"
