"""However somebody asks on GitLab: one run, which hears them and answers there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from patchwright.core.types.triggers import TriggerKind
from tests.fakes.gitlab import ISSUE, MERGE_REQUEST, Remark, Spot, ThreadKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.gitlab_story import BOT, SHOP, TITLE, GitLabStory, telling_gitlab
from tests.flow.script import Request, asked, in_turn

PLAIN = "Three pieces cost as much as one."
WISH = f"@patchwright why is that? {PLAIN}"
ANSWER = call("finish", summary="Looked.", answer="The pieces are not counted.")
NOTE = call("write", path="note.txt", content="Done.\n")
DONE = call("finish", title="Add a note", summary="Added a note.")
Asked = tuple[int, ThreadKind]


def in_an_issue(story: GitLabStory) -> Asked:
    return story.gitlab.open_issue(SHOP, "alice", TITLE, WISH), ISSUE


def in_a_note(story: GitLabStory) -> Asked:
    issue = story.gitlab.open_issue(SHOP, "eve", TITLE, PLAIN)
    story.gitlab.comment(SHOP, issue, "alice", WISH)
    return issue, ISSUE


def in_a_merge_request(story: GitLabStory) -> Asked:
    return story.propose(WISH), MERGE_REQUEST


def below_a_merge_request(story: GitLabStory) -> Asked:
    number = story.propose()
    story.gitlab.comment(SHOP, number, "alice", WISH, kind=MERGE_REQUEST)
    return number, MERGE_REQUEST


def at_a_line(story: GitLabStory) -> Asked:
    number = story.propose()
    remark = Remark(spot=Spot(path="x.py", line=1), body=WISH)
    story.gitlab.review(SHOP, number, "alice", remarks=[remark])
    return number, MERGE_REQUEST


def in_a_discussion_of_a_line(story: GitLabStory) -> Asked:
    number = story.propose()
    remark = Remark(spot=Spot(path="x.py", line=1), body=PLAIN)
    [note] = story.gitlab.review(SHOP, number, "eve", remarks=[remark])
    discussion = story.gitlab.world.notes[note].discussion
    story.gitlab.comment(
        SHOP, number, "alice", WISH, kind=MERGE_REQUEST, discussion=discussion
    )
    return number, MERGE_REQUEST


def by_an_edit_of_the_issue(story: GitLabStory) -> Asked:
    issue = story.gitlab.open_issue(SHOP, "alice", TITLE, PLAIN)
    story.gitlab.edit(SHOP, issue, "alice", body=WISH)
    return issue, ISSUE


def by_an_edit_of_the_merge_request(story: GitLabStory) -> Asked:
    number = story.propose(PLAIN)
    story.gitlab.edit(SHOP, number, "alice", kind=MERGE_REQUEST, body=WISH)
    return number, MERGE_REQUEST


def by_an_edit_of_a_note(story: GitLabStory) -> Asked:
    issue = story.gitlab.open_issue(SHOP, "eve", TITLE, "It is wrong.")
    note = story.gitlab.comment(SHOP, issue, "alice", PLAIN)
    story.gitlab.edit_comment(note, "alice", WISH)
    story.gitlab.edit_comment(note, "alice", f"{WISH} Really.")
    return issue, ISSUE


def by_a_label(story: GitLabStory) -> Asked:
    issue = story.gitlab.open_issue(SHOP, "eve", TITLE, PLAIN)
    story.gitlab.label(SHOP, issue, "patchwright", "alice")
    return issue, ISSUE


def by_a_label_on_a_merge_request(story: GitLabStory) -> Asked:
    number = story.propose(PLAIN)
    story.gitlab.label(SHOP, number, "patchwright", "alice", MERGE_REQUEST)
    return number, MERGE_REQUEST


def by_assignment(story: GitLabStory) -> Asked:
    issue = story.gitlab.open_issue(SHOP, "eve", TITLE, PLAIN)
    story.gitlab.assign(SHOP, issue, [BOT], "alice")
    return issue, ISSUE


KINDS: dict[Callable[[GitLabStory], Asked], TriggerKind] = {
    in_an_issue: TriggerKind.BODY_MENTION,
    in_a_note: TriggerKind.COMMENT_MENTION,
    in_a_merge_request: TriggerKind.BODY_MENTION,
    below_a_merge_request: TriggerKind.COMMENT_MENTION,
    at_a_line: TriggerKind.COMMENT_MENTION,
    in_a_discussion_of_a_line: TriggerKind.COMMENT_MENTION,
    by_an_edit_of_the_issue: TriggerKind.BODY_MENTION,
    by_an_edit_of_the_merge_request: TriggerKind.BODY_MENTION,
    by_an_edit_of_a_note: TriggerKind.COMMENT_MENTION,
    by_a_label: TriggerKind.LABEL,
    by_a_label_on_a_merge_request: TriggerKind.LABEL,
    by_assignment: TriggerKind.ASSIGNMENT,
}
AT_LINES = (at_a_line, in_a_discussion_of_a_line)


@pytest.mark.parametrize("ask", KINDS, ids=lambda one: one.__name__)
def test_whoever_asks_on_gitlab_is_answered_there_and_once(
    tmp_path: Path, ask: Callable[[GitLabStory], Asked]
) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        number, kind = ask(story)
        story.work()
        told = story.reply(number, kind)
        assert told.startswith("**Answered**")
        assert "The pieces are not counted." in told
        assert PLAIN in asked(story.provider.requests[0])
        [job] = story.jobs()
        trigger = job.trigger
        assert (trigger.kind, trigger.actor.login) == (KINDS[ask], "alice")
        assert trigger.forge_thread.number == number
        at_a_line = ask in AT_LINES
        assert len(story.at_lines(number) if at_a_line else []) == at_a_line


def test_a_review_is_one_run_that_hears_all_its_remarks(tmp_path: Path) -> None:
    def read(request: Request) -> TurnLike:
        told = asked(request)
        assert "Name it in full." in told
        assert "And test it." in told
        return NOTE

    with telling_gitlab(tmp_path, in_turn(read, DONE)) as story:
        number = story.propose(files={"x.py": "x = 1\ny = 2\n"})
        story.gitlab.review(
            SHOP,
            number,
            "alice",
            body="@patchwright please see to these.",
            remarks=[
                Remark(spot=Spot(path="x.py", line=1), body="Name it in full."),
                Remark(spot=Spot(path="x.py", line=2), body="And test it."),
            ],
        )
        story.work()
        assert len(story.jobs()) == 1
        assert story.file("work", "note.txt") == "Done.\n"
        told = story.reply(number, MERGE_REQUEST)
        assert told.startswith("**Change made, not proven**")
        assert "- 2 review threads have no answer from the agent." in told
        assert "The change is on [`work`](" in told


def test_creation_and_label_within_a_second_are_one_run(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        issue = story.gitlab.open_issue(SHOP, "alice", TITLE, WISH)
        story.gitlab.label(SHOP, issue, "patchwright", "alice")
        story.work()
        assert len(story.jobs()) == 1
        assert "The pieces are not counted." in story.reply(issue)


def test_s03_a_quoted_mention_and_another_name_ask_nothing(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn()) as story:
        issue = story.ask(f"> {WISH}\n\nNot yet. @patchwright-ci knows.")
        story.say(issue, "`@patchwright` is what you write.")
        assert story.jobs() == []
        assert story.replies(issue) == []


def test_s01_s02_a_mention_stands_anywhere_in_the_words(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        issue = story.ask("Could you have a look (@Patchwright)?")
        assert "The pieces are not counted." in story.reply(issue)
