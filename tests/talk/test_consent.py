"""Private words reach a public repository by consent alone."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.github.bare import git
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns
from tests.flow.tickets import calling, open_ticket, replies, say

WHY = "Miller Brothers of Hamburg pay too little for every order since the last release"
LINK = "https://crm.miller.example/orders/4711"
MAIL = "otto.mueller@miller.example"
WISH = f"please fix the total in acme/shop: {WHY}, see {LINK} or ask {MAIL}"
PLANTED = (WHY, "Miller Brothers", LINK, MAIL, "Jo Doe", "slack.com")
TOLD = call(
    "finish",
    title="Count every piece for Jo Doe",
    summary=f"Jo Doe said that {WHY}: {LINK}, {MAIL}, APP-1.",
    test_commands=["python3 -m unittest test_pieces"],
)
ANSWER = call("finish", summary="Nothing to do.", answer="Nothing is to be done.")


def told_turns() -> list[TurnLike]:
    """Return the turns of a model that tells all it knows."""
    return [*fix_turns()[:-1], TOLD]


def on_github(story: Story) -> str:
    """Return all that anybody can read there, the history of all branches included."""
    issues = story.github.world.issues_of(REPO)
    said = [
        one for issue in issues for one in story.github.comments(REPO, issue.number)
    ]
    history = git(
        story.github.git_folder(REPO), "log", "--all", "-p", "--format=fuller"
    )
    seen = [*issues, *said, *story.github.pull_requests(REPO), *story.branches()]
    return "\n".join([*map(repr, seen), history.decode()])


def read_all(office: Office, thread: str) -> None:
    office.slack.answers(thread)
    office.slack.whispers()


def test_nothing_is_written_before_the_answer(tmp_path: Path) -> None:
    with in_office(tmp_path, [], private=False) as office:
        story, slack = office.story, office.slack
        before = on_github(story)
        thread = slack.ask(WISH)
        story.work()
        question = slack.whisper()
        assert question.shown.startswith("*`acme/shop` is public. May the pull request")
        assert slack.fake.buttons(question) == [
            "Share",
            "Keep it out",
            "Always share in this channel",
            "Always keep out in this channel",
        ]
        assert story.jobs()[0].state is JobState.WAITING_USER
        assert slack.shown(thread) == []
        assert on_github(story) == before


def test_what_is_shared_is_linked_and_quoted(tmp_path: Path) -> None:
    with in_office(tmp_path, told_turns(), private=False) as office:
        story, slack = office.story, office.slack
        thread = slack.ask(WISH)
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Share")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert WHY in pull.body
        assert "[a thread in Slack](https://acme.slack.com/archives/" in pull.body
        read_all(office, thread)


def test_what_is_kept_out_is_nowhere_beside_the_code(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert WHY in asked(request)
        assert "Nothing that you write there may show" in asked(request)
        return first

    first, *rest = told_turns()
    with in_office(tmp_path, in_turn(see, *rest), private=False) as office:
        story, slack = office.story, office.slack
        key = open_ticket(office)
        thread = slack.ask(f"{WISH}, or {key}")
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        story.work()
        [done] = slack.runs(thread)
        assert WHY in done.shown
        read_all(office, thread)
        office.jira.answers(key)
        [pull] = story.github.pull_requests(REPO)
        assert pull.title == "Count every piece for […]"
        assert pull.head_branch == f"patchwright/{story.jobs()[0].id[:8]}-change"
        assert "?key=" not in pull.body
        public = on_github(story)
        assert [one for one in (*PLANTED, key) if one in public] == []


def test_what_is_said_while_it_works_is_kept_out_as_well(tmp_path: Path) -> None:
    late = "Zander and Sons have been billed twice for a crate of herring"

    def add(_request: Request) -> TurnLike:
        office.slack.ask(late, thread=thread)
        return first

    first, *rest = fix_turns()
    told = call("finish", title="Count every piece", summary=f"It is that {late}.")
    script = in_turn(add, *rest[:-1], told)
    with in_office(tmp_path, script, private=False) as office:
        story, slack = office.story, office.slack
        thread = slack.ask(WISH)
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        story.work()
        assert late in slack.runs(thread)[0].shown
        read_all(office, thread)
        [pull] = story.github.pull_requests(REPO)
        assert "It is that […]." in pull.body
        assert late not in on_github(story)


@pytest.mark.parametrize(
    "line", [f"# {WHY.upper()}\n", f"LINK = '{LINK}'\n", f"MAIL = '{MAIL}'\n"]
)
def test_a_file_that_repeats_it_is_handed_over_in_private(
    tmp_path: Path, line: str
) -> None:
    written = call("write", path="test_pieces.py", content=line)
    script = in_turn(written, fix_turns()[-1], written, fix_turns()[-1])
    with in_office(tmp_path, script, private=False) as office:
        story, slack = office.story, office.slack
        thread = slack.ask(WISH)
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        story.work()
        [asks] = slack.runs(thread)
        assert asks.shown.startswith("*Needs you*")
        assert "The change repeats what was said in private" in asks.shown
        assert "• `test_pieces.py`, line 1" in asks.shown
        assert f"+{line}" in asks.shown
        assert story.outcome().reason == "private-words"
        assert (story.branches(), story.github.pull_requests(REPO)) == ([], [])
        slack.ask("share", thread=thread)
        story.work()
        assert len(story.github.pull_requests(REPO)) == 1
        assert line in on_github(story).replace("\\n", "\n")
        read_all(office, thread)


def test_beside_the_code_not_even_a_patch_shows_it(tmp_path: Path) -> None:
    written = call("write", path="notes.py", content=f"# {WHY}\n")
    script = in_turn(*told_turns(), written, fix_turns()[-1])
    with in_office(tmp_path, script, private=False) as office:
        story, slack = office.story, office.slack
        thread = slack.ask(WISH)
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        story.work()
        story.say(1, "@patchwright add notes")
        story.work()
        assert "The change repeats what was said in private" in story.reply(1)
        assert "git am" not in story.reply(1)
        read_all(office, thread)
        story.pings(1)
        public = on_github(story)
        assert [one for one in PLANTED if one in public] == []


def test_always_is_remembered_for_the_channel(tmp_path: Path) -> None:
    with in_office(tmp_path, [*told_turns(), ANSWER], private=False) as office:
        story, slack = office.story, office.slack
        thread = slack.ask(WISH)
        story.work()
        label = "Always keep out in this channel"
        slack.fake.press(slack.jo, slack.whisper(), label)
        story.work()
        other = slack.ask("is all well in acme/shop?")
        story.work()
        assert len(slack.whispers()) == 1
        assert "Nothing is to be done." in slack.runs(other)[0].shown
        read_all(office, thread)
        read_all(office, other)
        public = on_github(story)
        assert [one for one in PLANTED if one in public] == []


def test_of_a_private_repository_nobody_is_asked(tmp_path: Path) -> None:
    with in_office(tmp_path, told_turns()) as office:
        thread = office.slack.ask(WISH)
        office.story.work()
        assert office.slack.whispers() == []
        assert len(office.slack.runs(thread)) == 1
        office.slack.calls(thread)
        [pull] = office.story.github.pull_requests(REPO)
        assert WHY in pull.body


def test_a_ticket_is_asked_in_a_comment(tmp_path: Path) -> None:
    with in_office(tmp_path, told_turns(), private=False, cloud=False) as office:
        story = office.story
        key = open_ticket(office, f"{WHY}, see {LINK} or ask {MAIL}")
        say(office, key, calling(office))
        [question] = replies(office, key)
        assert "acme/shop" in question
        assert "quote this private ticket?" in question
        assert story.branches() == []
        say(office, key, "keep it out")
        assert replies(office, key)[-1].startswith("*Done, proven* · ")
        office.jira.answers(key)
        public = on_github(story)
        planted = (
            WHY,
            "Miller Brothers",
            LINK,
            MAIL,
            "Ann Lee",
            key,
            f"127.0.0.1:{_port(office)}",
        )
        assert [one for one in planted if one in public] == []


def _port(office: Office) -> str:
    return office.jira.fake.base_url.rpartition(":")[2].partition("/")[0]


def test_a_run_that_works_in_public_is_told_nothing_that_is_kept_out(
    tmp_path: Path,
) -> None:
    def add(_request: Request) -> TurnLike:
        slack = office.slack
        threads.append(slack.ask(f"{WISH}, it is acme/shop#1"))
        _work_beside(office)
        slack.fake.press(slack.jo, slack.whisper(), "Keep it out")
        _work_beside(office)
        return first

    def see(request: Request) -> TurnLike:
        assert WHY not in asked(request)
        return second

    threads: list[str] = []
    first, second, *rest = fix_turns()
    with in_office(tmp_path, in_turn(add, see, *rest), private=False) as office:
        story, slack = office.story, office.slack
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert len(story.pings(issue)) == 1
        assert slack.whisper().shown.startswith("A run about #1 works already")
        assert slack.shown(threads[0]) == []
        outcome = story.jobs()[1].outcome
        assert outcome is not None
        assert (outcome.kind, outcome.reason) == (
            OutcomeKind.REFUSED,
            "works-in-public",
        )
        public = on_github(story)
        assert [one for one in PLANTED if one in public] == []


def _work_beside(office: Office) -> None:
    """Run what waits, as a second worker would."""
    story = office.story
    for job in story.base.stores.jobs.take_unfinished(0.0):
        story.runner.run(job)
