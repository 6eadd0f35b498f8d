"""The App is taken away while there is work: no loop, no words, no tokens kept."""

from pathlib import Path

from patchwright.resolver.job import JobState
from tests.fakes.github.acts.installations import uninstall
from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
ENOUGH_TRIES = 9


def _uninstall(story: Story) -> None:
    [installation] = story.github.world.installations
    uninstall(story.github.world, installation, actor="alice")
    story.tell()


def _state(story: Story) -> JobState:
    [job] = story.jobs()
    return job.state


def test_a_run_that_has_not_begun_ends_without_the_app(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask(WISH)
        _uninstall(story)
        asked_before = len(story.github.requests)
        story.work()
        assert _state(story) is JobState.CANCELLED
        assert story.github.requests[asked_before:] == []
        assert (story.replies(issue), story.reactions(issue)) == ([], [])


def test_a_run_that_waits_for_an_answer_ends_without_the_app(tmp_path: Path) -> None:
    with telling(tmp_path, ["In cents, or in euros?"] * 3) as story:
        issue = story.ask(WISH)
        story.work()
        assert "In cents, or in euros?" in story.reply(issue)
        assert story.pings(issue)
        assert _state(story) is JobState.WAITING_USER
        _uninstall(story)
        story.work()
        assert _state(story) is JobState.CANCELLED
        assert "In cents, or in euros?" in story.reply(issue)


def test_a_run_that_works_ends_without_the_app(tmp_path: Path) -> None:
    def lose(_request: Request) -> TurnLike:
        _uninstall(story)
        return second

    first, second, *_ = fix_turns()
    with telling(tmp_path, in_turn(first, lose)) as story:
        issue = story.ask(WISH)
        story.work()
        for _ in range(ENOUGH_TRIES):
            story.work_later(700)
        assert _state(story) is JobState.CANCELLED
        assert len(story.provider.requests) == 2
        assert story.github.pull_requests(REPO) == []
        assert "state=running" in story.reply(issue)
