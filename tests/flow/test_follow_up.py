"""What people say while a run works: it joins, stops it, or is not heard."""

from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call, status
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns, telling
from tests.provision.waiting import wait_until

WISH = "@patchwright please fix the sum"
MORE = "@patchwright and mind the empty cart"


def test_what_the_requester_adds_reaches_the_run_as_data(tmp_path: Path) -> None:
    def add(_request: Request) -> TurnLike:
        comments.append(story.say(1, MORE))
        return first

    def see(request: Request) -> TurnLike:
        assert 'what="follow-up" author="alice">\nand mind the empty cart\n' in (
            asked(request)
        )
        return second

    comments: list[int] = []
    first, second, *rest = fix_turns()
    with telling(tmp_path, in_turn(add, see, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert story.reactions(issue, comments[0]) == ["eyes"]
        assert len(story.jobs()) == 1


def test_s09_what_a_stranger_adds_does_not_reach_the_run(tmp_path: Path) -> None:
    def add(_request: Request) -> TurnLike:
        comments.append(story.say(1, MORE, author="eve"))
        return first

    comments: list[int] = []
    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(add, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert story.reactions(issue, comments[0]) == ["-1"]
        assert "empty cart" not in b"".join(story.provider.raw_requests).decode()


def test_l2_who_lost_the_permission_steers_no_more(tmp_path: Path) -> None:
    """Not even where it was looked up a moment ago."""

    def allowed(_request: Request) -> TurnLike:
        comments.append(story.say(1, f"{MORE} once", author="eve"))
        return first

    def revoked(_request: Request) -> TurnLike:
        story.github.grant(REPO, "eve", "read")
        comments.append(story.say(1, "@patchwright and mind the moon", author="eve"))
        return second

    comments: list[int] = []
    first, second, *rest = fix_turns()
    with telling(tmp_path, in_turn(allowed, revoked, *rest)) as story:
        story.github.grant(REPO, "eve", "write")
        issue = story.ask(WISH)
        story.work()
        said = b"".join(story.provider.raw_requests).decode()
        assert "mind the empty cart once" in said
        assert "mind the moon" not in said
        assert [story.reactions(issue, one) for one in comments] == [["eyes"], ["-1"]]
        assert "**Done, proven** · #2" in story.reply(issue)


def test_stop_ends_the_run_and_keeps_its_work(tmp_path: Path) -> None:
    def stop(_request: Request) -> TurnLike:
        story.say(1, "@patchwright stop")
        return call("shell", command="touch must_not_run")

    write = call("write", path="half.py", content="1\n")
    with telling(tmp_path, in_turn(write, stop)) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.reply(issue).startswith("**Stopped** · 2 steps")
        assert "Stopped by @alice." in story.reply(issue)
        assert "The work so far is on [`patchwright/1-wrong-sum`]" in story.reply(issue)
        assert "state=stopped" in story.reply(issue)
        assert story.github.pull_requests(REPO) == []
        assert story.jobs()[0].state is JobState.CANCELLED
        assert "must_not_run" not in "".join(
            event.model_dump_json()
            for event in story.events()
            if event.payload.kind == "run_command"
        )


def test_s09_a_stranger_cannot_stop_a_run(tmp_path: Path) -> None:
    def stop(_request: Request) -> TurnLike:
        story.say(1, "@patchwright stop", author="eve")
        return first

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(stop, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_stop_before_the_run_has_begun_ends_it(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask(WISH)
        story.say(issue, "@patchwright stop")
        story.work()
        assert "Stopped by @alice before the run started." in story.reply(issue)
        assert story.provider.requests == []
        story.say(issue, "@patchwright status")
        story.work()
        answer = story.replies(issue)[-1]
        assert "Nothing is running here." in answer
        assert "Stopped by @alice before the run started." in answer


def test_stop_where_nothing_runs_says_so(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask("@patchwright stop")
        story.work()
        assert "Nothing is running in this thread." in story.reply(issue)


def test_what_comes_too_late_for_the_run_gets_a_run_of_its_own(tmp_path: Path) -> None:
    def add(_request: Request) -> TurnLike:
        story.say(1, MORE)
        return finish

    def see(request: Request) -> TurnLike:
        assert "and mind the empty cart" in asked(request)
        return call("write", path="note.txt", content="1\n")

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, add, see, finish)) as story:
        issue = story.ask(WISH)
        story.work()
        first, second = story.replies(issue)
        assert "**Done, proven** · #2 ·" in first
        assert "**Done, proven** · #2 ·" in second


@pytest.mark.parametrize("said", ["status", "budget +9999", "resume"])
def test_a_command_that_was_obeyed_in_the_last_call_is_not_answered_again(
    tmp_path: Path, said: str
) -> None:
    def last(_request: Request) -> TurnLike:
        comment = story.say(1, f"@patchwright {said}")
        wait_until(
            lambda: (
                story.reactions(1, comment) == ["eyes"] and len(story.replies(1)) == 2
            ),
            "the answer",
            20,
        )
        return finish

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, last)) as story:
        issue = story.ask(WISH)
        story.work()
        assert len(story.jobs()) == 1
        assert "**Done, proven** · #2 ·" in story.replies(issue)[0]
        assert not any("Nothing is running" in one for one in story.replies(issue))


def test_a_command_that_was_answered_is_not_answered_again_by_a_run_that_fails(
    tmp_path: Path,
) -> None:
    def last(_request: Request) -> TurnLike:
        story.say(1, "@patchwright status")
        wait_until(lambda: len(story.replies(1)) == 2, "the answer", 20)
        return status(400)

    with telling(tmp_path, in_turn(last)) as story:
        issue = story.ask(WISH)
        story.work()
        assert len(story.jobs()) == 1
        assert len(story.replies(issue)) == 2


def test_a_request_said_beside_a_command_in_the_last_call_gets_its_run(
    tmp_path: Path,
) -> None:
    def last(_request: Request) -> TurnLike:
        story.say(1, "@patchwright status")
        wait_until(lambda: len(story.replies(1)) == 2, "the answer", 20)
        story.say(1, MORE)
        return finish

    def see(request: Request) -> TurnLike:
        assert "and mind the empty cart" in asked(request)
        return call("write", path="note.txt", content="1\n")

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, last, see, finish)) as story:
        issue = story.ask(WISH)
        story.work()
        first, _status, second = story.replies(issue)
        assert "**Done, proven** · #2 ·" in first
        assert "**Done, proven** · #2 ·" in second
        assert len(story.jobs()) == 2
