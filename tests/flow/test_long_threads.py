"""Long threads and long texts: the newest is shown, all of it can be read."""

from pathlib import Path

from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, telling

WISH = "@patchwright which of these is it?"
ANSWER = call("finish", summary="Looked.", answer="It is the last one.")
COMMENTS = 300
# https://docs.github.com/en/rest/issues/issues#create-an-issue refuses more than this.
MAX_BODY = 65_536


def _words(number: int) -> str:
    return f"Report {number:03}. {'It fails with this message again. ' * 12}"


def test_s43_of_300_comments_the_newest_are_shown_and_all_can_be_read(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        told.append(asked(request))
        return call("shell", command="grep -c Report ../context/thread.md")

    def count(request: Request) -> TurnLike:
        told.append(results(request)[-1])
        return ANSWER

    told: list[str] = []
    with telling(tmp_path, in_turn(look, count)) as story:
        issue = story.github.open_issue(REPO, "alice", "It fails", "See below.")
        for number in range(COMMENTS):
            story.github.comment(REPO, issue, "alice", _words(number))
        asked_before = len(story.github.requests)
        story.say(issue, WISH)
        story.work()
        task, counted = told
        shown = [n for n in range(COMMENTS) if f"Report {n:03}." in task]
        assert shown == list(range(shown[0], COMMENTS))
        assert f"[{shown[0]} older comments left out here]" in task
        assert len(task) < 70_000
        assert counted.startswith(f"{COMMENTS}\n")
        requests = story.github.requests[asked_before:]
        pages = [one for one in requests if one.path.endswith("/comments")]
        # A hundred at a time: three full pages, the one that asked, and our own post.
        assert len([one for one in pages if one.method == "GET"]) <= 4
        assert len([one for one in pages if one.method == "POST"]) == 1
        assert "It is the last one." in story.reply(issue)


def test_s44_a_request_as_long_as_github_takes_is_cut_and_whole_in_the_sandbox(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        told.append(asked(request))
        return call("shell", command="grep -o MIDDLE ../context/request.md")

    def read(request: Request) -> TurnLike:
        told.append(results(request)[-1])
        return ANSWER

    told: list[str] = []
    half = "log " * 8_100
    body = f"@patchwright START {half} MIDDLE {half}"
    body = f"{body}{'x' * (MAX_BODY - len(body) - 4)} END"
    assert len(body) == MAX_BODY
    with telling(tmp_path, in_turn(look, read)) as story:
        issue = story.ask(body)
        story.work()
        task, found = told
        assert "START" in task
        assert "END" in task
        assert "MIDDLE" not in task
        assert "whole request is in /workspace/context/request.md" in task
        assert found.startswith("MIDDLE")
        assert "It is the last one." in story.reply(issue)
