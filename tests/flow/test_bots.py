"""Bots do not keep each other busy: neither ours itself nor ours another."""

from pathlib import Path

import pytest

from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.llm.turns import call
from tests.flow.script import in_turn
from tests.flow.story import BOT, REPO, telling

WISH = "@patchwright please fix the sum"
OTHER = "dependabot[bot]"
ANSWER = call("finish", summary="Looked.", answer="It is as it should be.")


@pytest.mark.parametrize("bot", [BOT, OTHER], ids=["s08-itself", "s10-another"])
def test_what_a_bot_writes_gets_no_answer_of_any_kind(tmp_path: Path, bot: str) -> None:
    with telling(tmp_path, []) as story:
        github = story.github
        github.add_app(99, "dependabot", "other secret")
        issue = github.open_issue(REPO, bot, "Wrong sum", WISH)
        comment = github.comment(REPO, issue, bot, WISH)
        github.comment(REPO, issue, "alice", "Never mind the bots.")
        github.edit_comment(comment, bot, f"{WISH} again")
        github.commit_files(REPO, "work", {"x.py": "x = 1\n"})
        proposal = Proposal(title="Try x", head="work", base="main", body=WISH)
        pull = github.open_pull_request(REPO, bot, proposal)
        spot = Spot(path="x.py", line=1)
        reviews.comment_on(
            github.world, REPO, pull, author=bot, spot=spot, body=f"{WISH} here"
        )
        written = dict(github.world.comments)
        for delivery in github.deliveries:
            assert story.deliver(delivery).status in {200, 202}
        story.work()
        assert story.provider.requests == []
        assert github.world.reactions == {}
        assert github.world.comments == written
        assert [len(one.comments) for one in github.world.reviews.values()] == [1]
        story.replies(issue)


def test_s10_a_named_bot_starts_a_run_and_is_not_mentioned(tmp_path: Path) -> None:
    named = {"PATCHWRIGHT_SECURITY__ALLOW_BOTS": '["dependabot"]'}
    with telling(tmp_path, in_turn(ANSWER), settings=named) as story:
        story.github.add_app(99, "dependabot", "other secret")
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
        story.say(issue, WISH, author=OTHER)
        story.work()
        assert "It is as it should be." in story.reply(issue)
        assert story.pings(issue) == []
