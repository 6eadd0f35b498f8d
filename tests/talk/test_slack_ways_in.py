"""Every way in which somebody asks in Slack, besides a mention in a channel."""

from pathlib import Path

from patchwright.core.types.people import Actor
from patchwright.workers.compose import make_chat_composition
from tests.fakes.llm.turns import TurnLike, call
from tests.fakes.slack.state import View
from tests.flow.office import Office, Workspace, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.provision.waiting import wait_until

MORE = call("write", path="notes.py", content='"""About carts."""\n')


def test_a_direct_message_needs_no_mention_nor_does_its_follow_up(
    tmp_path: Path,
) -> None:
    def follow(request: Request) -> TurnLike:
        assert "say what a cart is" in asked(request)
        return MORE

    turns = in_turn(*fix_turns(), follow, fix_turns()[-1])
    with in_office(tmp_path, turns) as office:
        slack = office.slack
        thread = slack.fake.say(slack.jo, slack.direct, "fix the total in acme/shop")
        office.story.work()
        [done] = slack.runs(thread, slack.direct)
        assert "|pull request #1>" in done.shown
        slack.fake.say(slack.jo, slack.direct, "say what a cart is", thread)
        office.story.work()
        [_, again] = slack.runs(thread, slack.direct)
        assert "|pull request #1>" in again.shown
        assert len({job.conversation_id for job in office.story.jobs()}) == 1


def test_a_slash_command_opens_a_thread_of_its_own(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack = office.slack
        receipt = slack.fake.slash(slack.jo, slack.channel, f"fix the total in {REPO}")
        assert receipt is not None
        assert (receipt.status, receipt.body) == (200, b"")
        office.story.work()
        [root] = slack.opened()
        assert root.shown == f"<@{slack.jo}> asks:\n\n> fix the total in acme/shop"
        assert "|pull request #1>" in slack.runs(root.ts)[0].shown


def test_a_thread_that_was_opened_without_our_knowing_has_no_twin(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack, story = office.slack, office.story
        slack.fake.slash(slack.jo, slack.channel, f"fix the total in {REPO}")
        slack.fake.faults.fail_next("chat.postMessage", status=503, is_late=True)
        story.work()
        story.work_later(60)
        [root] = slack.opened()
        assert "|pull request #1>" in slack.runs(root.ts)[0].shown
        assert len(story.jobs()) == 1


def test_a_slash_command_for_help_is_answered_in_private(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn()) as office:
        slack = office.slack
        slack.fake.slash(slack.jo, slack.channel, "help")
        office.story.work()
        assert "`@patchwright stop`: end the run" in slack.whisper().shown
        assert slack.opened() == []


def test_a_message_can_be_handed_over_by_its_menu(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert "the total in acme/shop ignores the pieces" in asked(request)
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(see, *rest)) as office:
        slack = office.slack
        text = "the total in acme/shop ignores the pieces"
        thread = slack.fake.say(slack.max, slack.channel, text)
        slack.fake.message_shortcut(slack.jo, slack.channel, thread)
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown


HOME = """\
Patchwright
Mention me in a channel, write to me here, or start now.
New request
Account
You are linked to *alice*.
Default repository
Used if neither the request nor its channel names one.
Find a repository
My runs
No runs yet."""


def home(slack: Workspace, words: str) -> View:
    """Return the home tab once it says so, which is brought up to date later."""
    wait_until(lambda: words in slack.fake.home(slack.jo).shown, words, 10)
    return slack.fake.home(slack.jo)


def open_home(slack: Workspace, words: str) -> View:
    slack.fake.open_home(slack.jo)
    wait_until(lambda: slack.jo in slack.fake.world.homes, "the home tab", 10)
    return home(slack, words)


def send_form(office: Office, words: dict[str, str]) -> None:
    slack = office.slack
    wait_until(lambda: slack.fake.world.forms != [], "the form", 10)
    slack.fake.submit(slack.fake.form(slack.jo), words)
    office.story.work()


def test_the_home_tab_begins_a_request_and_lists_it(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack = office.slack
        tab = open_home(slack, "My runs")
        assert tab.shown == HOME
        slack.fake.press(slack.jo, tab, "New request")
        words = {"What should be done?": "fix the total", "Repository": REPO}
        send_form(office, words)
        [root] = slack.opened(slack.direct)
        assert root.shown.startswith(f"<@{slack.jo}> asks:\n\n> fix the total")
        done = slack.runs(root.ts, slack.direct)[0].shown
        assert "|pull request #1>" in done
        listed = steady(open_home(slack, "fix the total").shown)
        assert "*Done, proven* · <GITHUB/runs/RUN|fix the total>" in listed


def test_a_default_of_ones_own_is_chosen_in_the_home_tab(tmp_path: Path) -> None:
    no_others = {"PATCHWRIGHT_JIRA__PROJECTS": "{}"}
    with in_office(tmp_path, in_turn(*fix_turns()), settings=no_others) as office:
        slack = office.slack
        tab = open_home(slack, "My runs")
        slack.fake.pick(slack.jo, tab, REPO)
        home(slack, f"Find a repository\n{REPO}")
        thread = slack.ask("fix the total")
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown


def test_the_home_tab_says_that_somebody_is_not_linked(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(), mapped=False) as office:
        tab = open_home(office.slack, "My runs")
        assert "Your account is not linked yet." in tab.shown


def test_who_commands_while_slack_is_away_is_told_later(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn()) as office:
        slack, story = office.slack, office.story
        slack.fake.slash(slack.jo, slack.channel, f"fix the total in {REPO}")
        slack.fake.faults.fail_next("chat.postMessage", status=503, times=2)
        slack.fake.faults.fail_next("chat.postEphemeral", status=503)
        story.work()
        assert slack.whispers() == []
        story.work_later(60)
        told = slack.whisper().shown
        assert told.startswith("*Failed* (`service-unavailable`)")
        assert "Slack answered 503" in told
        assert slack.opened() == []


def test_an_id_alone_in_the_list_of_people_means_the_workspace_that_is_served(
    tmp_path: Path,
) -> None:
    """In a channel that workspaces share, somebody else may have the same id."""
    bare = {"PATCHWRIGHT_ACCOUNTS__MAP": '[{"slack": "U7", "github": "alice"}]'}
    with in_office(tmp_path, [], settings=bare) as office:
        people = make_chat_composition(office.story.base).people
        here = Actor(
            service="slack", login="jo", external_id="U7", host=office.slack.team
        )
        there = Actor(service="slack", login="jo", external_id="U7", host="T9")
        found = people.find(here)
        assert found is not None
        assert found.login == "alice"
        assert people.find(there) is None
