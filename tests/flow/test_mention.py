"""A mention becomes a pull request."""

from pathlib import Path

from tests.flow.story import BOT, REPO, fix_turns, telling


def test_a_mention_becomes_a_proven_pull_request(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.ask("@patchwright please fix the sum, 3 pieces cost 450")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.author == BOT
        assert not pull.draft
