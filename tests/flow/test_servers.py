"""The same story on github.com, on a server of one's own, as an App and as a user."""

from pathlib import Path

import pytest

from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"


@pytest.mark.parametrize("as_app", [True, False], ids=["app", "s12-token"])
@pytest.mark.parametrize("enterprise", [True, False], ids=["s14-server", "cloud"])
def test_a_mention_is_answered_on_every_server_and_with_every_credential(
    tmp_path: Path, *, enterprise: bool, as_app: bool
) -> None:
    with telling(tmp_path, fix_turns(), enterprise=enterprise, as_app=as_app) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.author == story.bot
        assert not pull.draft
        assert "**Done, proven** · #2" in story.reply(issue)
        assert story.reactions(issue) == ["eyes"]


def test_s08_a_bot_that_is_a_user_does_not_ask_itself(tmp_path: Path) -> None:
    with telling(tmp_path, [], as_app=False) as story:
        issue = story.ask("@patchwright help")
        story.work()
        story.say(issue, "Say @patchwright retry", author=story.bot)
        story.work()
        assert len(story.replies(issue)) == 2
        assert len(story.jobs()) == 1
