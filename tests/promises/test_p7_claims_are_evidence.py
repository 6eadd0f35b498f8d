"""A test passes only if the controller saw it fail without the change."""

from dataclasses import replace
from pathlib import Path

from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.evidence import EvidenceRole
from patchwright.workers.jobs.worker import JobWorker
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.story import NEW_TEST, REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"


def _finish(*commands: str) -> TurnLike:
    return call("finish", summary="All tests pass!", test_commands=list(commands))


def test_a_test_that_is_red_before_and_green_after_is_proof(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        outcome = story.outcome()
        assert [(one.role, one.exit_code) for one in outcome.evidence] == [
            (EvidenceRole.BEFORE, 1),
            (EvidenceRole.AFTER, 0),
            (EvidenceRole.SUITE_BEFORE, 0),
            (EvidenceRole.SUITE_AFTER, 0),
        ]
        assert "**Proven**" in story.reply(issue)
        assert not story.github.pull_requests(REPO)[0].draft


def test_s39_a_test_that_fails_after_the_change_leaves_a_draft(tmp_path: Path) -> None:
    turns = [
        call("write", path="test_pieces.py", content=NEW_TEST),
        _finish("python3 -m unittest test_pieces"),
    ]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        doubt = "🔴 **Contradicted**: a test of this change fails with it."
        assert pull.draft
        assert doubt in pull.body
        assert doubt in story.reply(issue)


def test_s39_a_test_that_passes_without_the_change_proves_nothing(
    tmp_path: Path,
) -> None:
    turns = [
        call("write", path="note.txt", content="Done.\n"),
        _finish("python3 -m unittest test_cart"),
    ]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        doubt = "**Not proven**: the test passes without the change too"
        assert pull.draft
        assert doubt in pull.body
        assert doubt in story.reply(issue)


def test_s39_work_without_a_named_test_is_not_thrown_away(tmp_path: Path) -> None:
    turns = [call("write", path="note.txt", content="Done.\n"), _finish()]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        doubt = "**Not proven**: no test command was named, so nothing was run."
        assert pull.draft
        assert doubt in pull.body
        assert doubt in story.reply(issue)


def test_evidence_is_taken_in_a_sandbox_that_the_agent_never_touched(
    tmp_path: Path,
) -> None:
    """A file outside the repository makes the agent's own run of the test pass."""
    command = "test -e /tmp/prepared"
    turns = [
        call("shell", command=f"touch /tmp/prepared; {command}"),
        call("write", path="note.txt", content="Done.\n"),
        _finish(command),
    ]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Not proven**" in story.reply(issue)
        assert [one.exit_code for one in story.outcome().evidence] == [1, 1]


class OneSandbox:
    """Starts one sandbox; the engine is gone when another is wanted."""

    def __init__(self, sandboxes: RuntimeFactory) -> None:
        self.kind = sandboxes.kind
        self._sandboxes = sandboxes
        self._used = False

    def start(self, spec: SandboxSpec) -> Runtime:
        if self._used:
            raise SandboxError("the engine does not answer")
        self._used = True
        return self._sandboxes.start(spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        del spec
        return None

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()


def test_s39_work_is_kept_when_there_is_no_sandbox_for_the_proof(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        services = story.runner._services
        without = replace(services, sandboxes=OneSandbox(services.sandboxes))
        JobWorker(without, "worker").run(story.jobs()[0].id)
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert "**Not proven**: no fresh sandbox could be used" in pull.body
        note = "No fresh sandbox could be used: the engine does not answer"
        assert note in pull.body
        assert note in story.reply(issue)
