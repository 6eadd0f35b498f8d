"""What was to be kept out stays out, whoever asks for it beside the code later."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.github.state import Comment
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.script import Request, Step, asked, in_turn
from tests.flow.story import REPO, fix_turns

SECRET = "the customer Zanzibar lost nine hundred thousand dollars on a single order"
ANSWER = call("finish", summary="Nothing.", answer="There is nothing to be done.")
QUOTING = call(
    "finish",
    title="Count every piece",
    summary=f"The total ignored the pieces: {SECRET}.",
    test_commands=["python3 -m unittest test_pieces"],
)


def quoting_turns() -> list[TurnLike]:
    return [*fix_turns()[:-1], QUOTING]


@contextmanager
def kept_out(folder: Path, *turns: Step) -> Iterator[tuple[Office, str]]:
    """Have a change made whose private reason is to be kept out of the repository."""
    script = in_turn(*quoting_turns(), *turns)
    with in_office(folder, script, private=False) as office:
        slack = office.slack
        thread = slack.ask(f"fix the total in {REPO}: {SECRET}")
        office.story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        office.story.work()
        [done] = slack.runs(thread)
        assert SECRET in done.shown
        yield office, thread
        told = [comment.body for comment in everything_said(office)]
        [pull] = office.story.github.pull_requests(REPO)
        for text in (*told, pull.title, pull.body):
            assert "Zanzibar" not in text
            assert "slack.com" not in text


def everything_said(office: Office) -> list[Comment]:
    [pull] = office.story.github.pull_requests(REPO)
    return office.story.github.comments(REPO, pull.number)


@pytest.mark.parametrize("question", ["why", "status", "cost", "plan", "retry"])
def test_questions_beside_the_code_bring_no_private_words_there(
    tmp_path: Path, question: str
) -> None:
    with kept_out(tmp_path, ANSWER) as (office, thread):
        office.story.say(1, f"@patchwright {question}")
        office.story.work()
        assert office.story.replies(1)
        office.slack.answers(thread)


def test_nobody_gives_consent_beside_the_code(tmp_path: Path) -> None:
    with kept_out(tmp_path, ANSWER) as (office, thread):
        office.story.say(1, "@patchwright share")
        office.story.work()
        office.story.say(1, "@patchwright why")
        office.story.work()
        assert office.story.replies(1)
        office.slack.answers(thread)


def test_a_running_plan_is_not_told_beside_the_code(tmp_path: Path) -> None:
    def ask(_request: Request) -> TurnLike:
        office.story.say(1, "@patchwright plan")
        office.story.say(1, "@patchwright status")
        return ANSWER

    todos = call("todo", todos=[{"text": f"Help, as {SECRET}", "done": False}])
    with kept_out(tmp_path, todos, ask) as (office, thread):
        office.slack.ask("look again", thread=thread)
        office.story.work()
        assert any("not shown here" in text for text in office.story.replies(1))
        office.slack.answers(thread)


def test_a_strangers_issue_brings_in_no_ticket_when_it_gets_our_label(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "Zanzibar" not in asked(request)
        return ANSWER

    with in_office(tmp_path, in_turn(look), private=False) as office:
        story, jira = office.story, office.jira
        key = jira.fake.create("APP", jira.zoe, "A loss", SECRET)
        jira.tell()
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", f"Sums, see {key}.")
        story.github.label(REPO, issue, "patchwright", "alice")
        story.tell()
        story.work()
        assert story.outcome().kind is OutcomeKind.ANSWERED
        assert story.replies(issue)
        story.pings(issue)
        assert jira.answers(key) == []


def test_a_ticket_that_an_issue_names_is_kept_out_unasked(tmp_path: Path) -> None:
    """Who writes to the repository may be told, and cannot speak for the ticket."""

    def look(request: Request) -> TurnLike:
        assert "Zanzibar" in asked(request)
        assert "Nothing that you write there may show" in asked(request)
        return first

    first, *rest = quoting_turns()
    with in_office(tmp_path, in_turn(look, *rest), private=False) as office:
        story, jira = office.story, office.jira
        key = jira.fake.create("APP", jira.zoe, "A loss", SECRET)
        jira.tell()
        issue = story.ask(f"@patchwright fix the sum, see {key}")
        story.work()
        assert story.outcome().kind is OutcomeKind.RESOLVED
        [pull] = story.github.pull_requests(REPO)
        said = story.replies(issue) + story.pings(issue)
        for text in (*said, pull.title, pull.body):
            assert "Zanzibar" not in text
        jira.answers(key)


def test_a_link_in_a_chat_or_a_ticket_opens_nothing_by_itself(tmp_path: Path) -> None:
    """There, others read along than may read the repository."""
    with in_office(tmp_path, in_turn(*fix_turns(), *fix_turns())) as office:
        slack, jira, story = office.slack, office.jira, office.story
        key = jira.fake.create("APP", jira.ann, "Wrong sum", "It is wrong.")
        thread = slack.ask(f"fix {key} in {REPO}")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        said = [str(one.body) for one in jira.answers(key)] + slack.shown(thread)
        pages = [
            page for text in said for page in re.findall(r"/runs/[^|)>\]'\"\s]+", text)
        ]
        assert len(pages) >= 2
        assert not [page for page in pages if "key" in page]
        with httpx.Client() as client:
            assert client.get(story.url + pages[0]).status_code == httpx.codes.NOT_FOUND
        assert "?key=" not in pull.body
