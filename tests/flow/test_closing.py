"""A thread is closed while a run for it is under way, or waits."""

from pathlib import Path

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"


def test_a_run_for_an_issue_that_is_closed_already_does_not_begin(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask(WISH)
        story.github.close_issue(REPO, issue, "alice")
        story.tell()
        story.work()
        assert story.outcome().kind is OutcomeKind.STOPPED
        assert story.provider.requests == []
        assert "The thread was closed before the run started." in story.reply(issue)


def test_closing_the_issue_stops_the_run(tmp_path: Path) -> None:
    def close(_request: Request) -> TurnLike:
        story.github.close_issue(REPO, issue, "alice")
        story.tell()
        return second

    first, second, *rest = fix_turns()
    with telling(tmp_path, in_turn(first, close, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.outcome().kind is OutcomeKind.STOPPED
        assert "the thread was closed" in story.reply(issue)


def test_closing_the_issue_ends_the_run_that_waits_for_an_answer(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, ["In cents, or in euros?"] * 3) as story:
        issue = story.ask(WISH)
        story.work()
        [job] = story.jobs()
        assert job.state is JobState.WAITING_USER
        story.github.close_issue(REPO, issue, "alice")
        story.tell()
        story.work()
        [job] = story.jobs()
        assert job.state is JobState.CANCELLED
        assert "the thread was closed" in story.reply(issue)


def test_merging_our_pull_request_does_not_hurt_the_run_that_made_it(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        story.github.close_issue(REPO, issue, "alice")
        story.tell()
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert story.outcome().kind is OutcomeKind.RESOLVED
