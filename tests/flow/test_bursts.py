"""People ask twice, or all at once: one run, one branch, and every word is heard."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

FIRST = "@patchwright please fix the sum"
SECOND = "@patchwright and keep the name of the function"


def _made(story: Story, issue: int) -> None:
    assert len(story.jobs()) == 1
    assert story.branches() == ["patchwright/1-wrong-sum"]
    assert len(story.github.pull_requests(REPO)) == 1
    assert "**Done, proven** · #2" in story.reply(issue)


def test_s35_two_mentions_before_the_run_begins_are_one_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(FIRST)
        comment = story.say(issue, SECOND)
        story.work()
        first = asked(story.provider.requests[0])
        assert "please fix the sum" in first
        assert "and keep the name" in first
        assert story.reactions(issue, comment) == ["eyes"]
        _made(story, issue)


def test_s35_two_mentions_that_arrive_together_are_one_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
        for text in (FIRST, SECOND):
            story.github.comment(REPO, issue, "alice", text)
        with ThreadPoolExecutor(2) as pool:
            receipts = list(pool.map(story.deliver, story.github.deliveries[-2:]))
        assert {one.status for one in receipts} == {200, 202}
        story.work()
        assert "and keep the name" in asked(story.provider.requests[0])
        assert "please fix the sum" in asked(story.provider.requests[0])
        _made(story, issue)


def test_s35_a_mention_while_the_run_works_joins_it(tmp_path: Path) -> None:
    def ask_more(_request: Request) -> TurnLike:
        story.say(issue, SECOND)
        return first

    def look(request: Request) -> TurnLike:
        heard.append("and keep the name" in asked(request))
        return second

    heard: list[bool] = []
    first, second, *rest = fix_turns()
    with telling(tmp_path, in_turn(ask_more, look, *rest)) as story:
        issue = story.ask(FIRST)
        story.work()
        assert heard == [True]
        _made(story, issue)
