"""However a run ends, it says so: outputs, summary, exit code, and in the thread."""

import threading
from pathlib import Path

import pytest

from tests.action.machine import make_machine
from tests.action.promises import steady_summary
from tests.action.scene import EVE, WISH, Scene, playing
from tests.fakes.llm.turns import Turn, TurnLike, call, hang
from tests.flow.script import Request, always
from tests.flow.story import REPO, fix_turns
from tests.runner.expressions.evaluate import Status
from tests.runner.job import Job, Machine

# A machine with much else to do takes minutes for what usually takes seconds.
pytestmark = pytest.mark.timeout(600)

ANSWER = call("finish", summary="Looked.", answer="It is so.")
PRICED = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
}


def test_a_stranger_is_refused_and_nothing_is_spent(tmp_path: Path) -> None:
    with playing(tmp_path, []) as scene:
        issue = scene.ask(author=EVE)
        asked = scene.happened()
        run = scene.run(asked, actor=EVE)
        run.said(outcome="refused", error_code="not-permitted", iterations="0")
        assert not run.failed
        assert scene.replies(issue) == []
        assert scene.run(asked, actor=EVE, fail_on="unresolved").failed


def test_an_event_that_asks_for_nothing_says_what_would(tmp_path: Path) -> None:
    with playing(tmp_path, []) as scene:
        issue = scene.ask("The total is wrong.")
        run = scene.run(mention="/exp")
        run.said(outcome="refused", error_code="not-asked")
        assert not run.failed
        assert "the mention `/exp`, the label `patchwright`" in run.summary
        assert scene.replies(issue) == []


def test_the_budget_is_a_ceiling(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        scene.environment.update(PRICED)
        issue = scene.ask()
        run = scene.run(max_cost_usd="0.05")
        run.said(outcome="over-budget", branch="", pr_url="")
        assert float(run["cost-usd"]) <= 0.05
        assert not run.failed
        assert "patchwright:state=over-budget" in scene.reply(issue)


def test_a_provider_that_refuses_the_key_is_an_error_with_its_cause(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, always(Turn(status=401))) as scene:
        issue = scene.ask()
        asked = scene.happened()
        run = scene.run(asked)
        run.said(outcome="failed", branch="", pr_number="", tests_after="")
        assert run["error-code"]
        assert run.failed
        assert run["summary"] in run.job.log.texts("error")[0]
        assert "patchwright:state=failed" in scene.reply(issue)
        assert not scene.run(asked, fail_on="never").failed


def test_what_github_does_not_take_at_first_is_delivered_later(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        scene.github.fail_next("POST", r".*/pulls", 503)
        scene.ask()
        scene.run().said(outcome="resolved", error_code="", pr_number="2")


def test_a_wrong_input_names_itself(tmp_path: Path) -> None:
    with playing(tmp_path, []) as scene:
        scene.ask()
        run = scene.run(max_iterations="many", mode="quick")
        run.said(outcome="failed", iterations="")
        assert run.failed
        assert run["summary"] == (
            "input `mode` must be one of `auto`, `fix`, `answer`, `plan`, "
            "`review-feedback`, `ci-fix`\n"
            "input `max-iterations` must be a whole number of at least 1"
        )


def test_a_machine_without_python_says_what_to_add(tmp_path: Path) -> None:
    with playing(tmp_path, []) as scene:
        scene.ask()
        machine = make_machine(tmp_path / "bare")
        too_old = tmp_path / "bare" / "programs" / "python3.13"
        too_old.unlink()
        too_old.write_text("#!/bin/sh\nexit 1\n")
        too_old.chmod(0o755)
        for name in ("python3.12", "python3.11"):
            (too_old.parent / name).symlink_to(too_old)
        run = scene.use(_job(scene, _without_python(machine)))
        run.said(outcome="failed", error_code="no-python", run_id="")
        assert run.failed
        assert "add a step with actions/setup-python" in run.summary


def _without_python(machine: Machine) -> Machine:
    """Let `python3` be too old for us, and still run what tells the result."""
    old = Path(machine.path.partition(":")[0], "python3")
    new = old.readlink()
    old.unlink()
    old.write_text(f'#!/bin/sh\n[ "$2" = -c ] && exit 1\nexec {new} "$@"\n')
    old.chmod(0o755)
    return machine


def _job(scene: Scene, machine: Machine | None = None) -> Job:
    return scene.make_job(*scene.happened(), machine=machine)


def test_s41_a_run_that_is_killed_still_has_a_result(tmp_path: Path) -> None:
    def kill(_request: Request) -> TurnLike:
        jobs[0].processes.kill()
        return hang()

    with playing(tmp_path, kill) as scene:
        scene.ask()
        jobs = [_job(scene)]
        run = scene.use(jobs[0])
        run.said(outcome="failed", error_code="crashed", pr_url="", trajectory_file="")
        assert run.failed
        assert len(run["run-id"]) == 32
        assert steady_summary(run.job).strip() == (
            "**Failed** (`crashed`)\n\nThe run ended without a result: its process "
            "was killed, or the machine ran out of memory or time."
        )


def test_a_cancelled_run_tells_the_thread_before_it_ends(tmp_path: Path) -> None:
    def cancel(_request: Request) -> TurnLike:
        threads.append(threading.Thread(target=jobs[0].cancel))
        threads[0].start()
        return hang()

    threads: list[threading.Thread] = []
    with playing(tmp_path, cancel) as scene:
        issue = scene.ask()
        jobs = [_job(scene)]
        run = scene.use(jobs[0])
        run.said(outcome="stopped", branch="")
        threads[0].join()
        assert run.result.status is Status.CANCELLED
        assert "patchwright:state=stopped" in scene.reply(issue)


def test_without_artifacts_nothing_is_kept(tmp_path: Path) -> None:
    with playing(tmp_path, [ANSWER]) as scene:
        scene.ask(WISH.replace("fix the sum", "look"))
        run = scene.run(upload_artifacts="false")
        run.said(outcome="answered")
        assert run.job.artifacts.kept == {}
        assert scene.github.pull_requests(REPO) == []
