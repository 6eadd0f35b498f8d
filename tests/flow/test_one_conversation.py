"""One conversation with many threads: one run, one log, one pull request."""

from pathlib import Path

from patchwright.core.events.observations import RunStarted
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.flow.tickets import calling, open_ticket, replies, reply, say

QUESTION = "Should `total` count in cents, or in euros?"
ASK = [QUESTION] * 3
ANSWER = call("finish", summary="Nothing to do.", answer="The empty cart is covered.")
WAITS_IN_JIRA = """\
*Needs you* · 3 steps · Ns · 360 tokens, price unknown · [run|GITHUB/runs/RUN]

The agent wrote:

{quote}
Should {{total}} count in cents, or in euros?
{quote}

Reply here with your answer. The run waits for it and costs nothing.

run RUN

* Stop: reply {{@patchwright stop}}"""
DONE_IN_JIRA = """\
*Done, proven* · [pull request #1|GITHUB/acme/shop/pull/1] · 7 steps · Ns · \
840 tokens, price unknown · [run|GITHUB/runs/RUN]

run RUN"""
ANSWERED_IN_SLACK = """\
*Answered* · <GITHUB/acme/shop/pull/1|pull request #1> · 1 step · Ns · 120 tokens, \
price unknown · <GITHUB/runs/RUN|run>
run RUN
Open pull request"""
DONE_BESIDE_THE_CODE = """\
**Done, proven** · [pull request #2](GITHUB/acme/shop/pull/2) · 4 steps · Ns · \
480 tokens, price unknown · [run](GITHUB/runs/RUN)

<sub>run RUN</sub>

<!-- patchwright:state=resolved run=RUN -->"""


def test_t10_asked_in_slack_answered_in_jira_reviewed_on_github(
    tmp_path: Path,
) -> None:
    def read(request: Request) -> TurnLike:
        assert "The total ignores the pieces." in asked(request)
        return QUESTION

    def go_on(request: Request) -> TurnLike:
        assert "In cents, always." in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(read, *ASK[1:], go_on, *rest, ANSWER)
    with in_office(tmp_path, turns) as office:
        story, slack = office.story, office.slack
        key = open_ticket(office)
        thread = slack.ask(f"please fix the total, see {key}")
        story.work()
        assert QUESTION in slack.runs(thread)[0].shown
        assert steady(reply(office, key)) == WAITS_IN_JIRA
        assert story.jobs()[0].state is JobState.WAITING_USER
        say(office, key, "In cents, always.")
        assert "pull request #1" in slack.runs(thread)[0].shown
        assert "The total ignored the pieces." in slack.runs(thread)[0].shown
        assert steady(reply(office, key)) == DONE_IN_JIRA
        [pull] = story.github.pull_requests(REPO)
        assert pull.title == f"{key}: Count every piece"
        assert f"/browse/{key})" in pull.body
        assert "[a thread in Slack](https://acme.slack.com/archives/" in pull.body
        story.say(pull.number, "@patchwright is the empty cart covered?")
        story.work()
        assert "The empty cart is covered." in story.reply(pull.number)
        _assert_one_of_each(office, thread, key)


def _assert_one_of_each(office: Office, thread: str, key: str) -> None:
    """Each thread has one message of each run; all runs share one log."""
    asked_first, reviewed = office.story.jobs()
    assert asked_first.conversation_id == reviewed.conversation_id
    assert len(office.story.github.pull_requests(REPO)) == 1
    first, second = office.slack.runs(thread)
    assert "patchwright" in str(first.metadata)
    assert steady(second.shown) == ANSWERED_IN_SLACK
    assert len(replies(office, key)) == len(office.story.jobs())
    log = office.story.base.stores.events.open(reviewed.conversation_id).read()
    runs = [e.payload.run_id for e in log if isinstance(e.payload, RunStarted)]
    assert runs == [asked_first.id, reviewed.id]
    assert len(office.slack.calls(thread)) == len(["needs you", "done"])


def test_t10_a_ticket_that_names_an_issue_closes_it(tmp_path: Path) -> None:
    def read(request: Request) -> TurnLike:
        assert "Three for the price of one." in asked(request)
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(read, *rest), cloud=False) as office:
        story = office.story
        issue = story.github.open_issue(
            REPO, "alice", "Wrong sum", "Three for the price of one."
        )
        key = open_ticket(office)
        say(office, key, calling(office, f"please fix acme/shop#{issue}"))
        assert replies(office, key)[0].startswith("*Done, proven* · [pull request #2|")
        assert steady(story.reply(issue)) == DONE_BESIDE_THE_CODE
        [pull] = story.github.pull_requests(REPO)
        assert pull.title.startswith(f"{key}: ")
        assert f"Closes #{issue}\nFor [{key}](" in pull.body
        office.jira.answers(key)


def test_t10_an_issue_that_names_a_ticket_tells_it(tmp_path: Path) -> None:
    with in_office(tmp_path, fix_turns()) as office:
        story = office.story
        key = open_ticket(office)
        issue = story.ask(f"@patchwright please fix the sum, it is {key}")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert len(story.pings(issue)) == 1
        assert reply(office, key).startswith("*Done, proven* · [pull request #2|")
        [pull] = story.github.pull_requests(REPO)
        assert f"Closes #{issue}\nFor [{key}](" in pull.body
        assert [one.url for one in office.jira.fake.remote_links(key)] == [
            f"{story.github.web_url}/{REPO}/pull/2"
        ]


def test_s73_a_follow_up_on_github_is_answered_there(tmp_path: Path) -> None:
    secret = "The empty cart is covered."
    with in_office(tmp_path, in_turn(*fix_turns(), ANSWER)) as office:
        story, slack = office.story, office.slack
        thread = slack.ask("please fix the total in acme/shop")
        story.work()
        story.say(1, "@patchwright is the empty cart covered?")
        story.work()
        assert secret in story.reply(1)
        assert steady(slack.runs(thread)[1].shown) == ANSWERED_IN_SLACK
        assert not any(secret in text for text in slack.shown(thread))
        assert len(slack.calls(thread)) == 1


def test_who_asks_how_it_stands_is_answered_where_they_asked(tmp_path: Path) -> None:
    def wonder(_request: Request) -> TurnLike:
        for word in ("status", "cost", "why"):
            office.jira.fake.comment(key, office.jira.ann, calling(office, word))
        office.jira.tell()
        return second

    first, second, *rest = fix_turns()
    with in_office(tmp_path, in_turn(first, wonder, *rest), cloud=False) as office:
        key = open_ticket(office)
        thread = office.slack.ask(f"please fix the total, see {key}")
        office.story.work()
        done, *answers = replies(office, key)
        assert done.startswith("*Done, proven*")
        assert len(answers) == len(["status", "cost", "why"])
        said = "\n".join(answers)
        assert "*Working on it* · step 1 of" in said
        assert "tokens in" in said
        assert "Requested by alice" in said
        assert len(office.slack.answers(thread)) == len(["done", "call"])
        say(office, key, calling(office, "cost"))
        assert "The last run used" in replies(office, key)[-1]
        assert len(office.slack.answers(thread)) == len(["done", "call"])
        assert len(office.story.github.pull_requests(REPO)) == 1
