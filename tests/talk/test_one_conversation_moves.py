"""Who names what has a conversation already goes on there: no twin of anything."""

from pathlib import Path

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import ask, calling, open_ticket, replies, say

WISH = "@patchwright please fix the sum"
QUESTION = "Should `total` count in cents, or in euros?"
ANSWER = call("finish", summary="Nothing to do.", answer="The empty cart is covered.")
WHAT_ABOUT = "what about the empty cart in acme/shop#1?"


def test_what_is_asked_of_an_issue_with_a_pull_request_goes_on_there(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns(), ANSWER)) as office:
        story, slack = office.story, office.slack
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.replies(issue)[0]
        thread = slack.ask(WHAT_ABOUT)
        story.work()
        [told] = slack.runs(thread)
        assert "The empty cart is covered." in told.shown
        assert len(story.pings(issue)) == 1
        first, moved, second = story.jobs()
        assert moved.state is JobState.CANCELLED
        assert first.conversation_id == second.conversation_id
        assert len(story.github.pull_requests(REPO)) == 1
        assert len(story.replies(issue)) == len([first, second])


def test_a_run_that_works_hears_of_it_and_its_thread_of_the_end(
    tmp_path: Path,
) -> None:
    def add(_request: Request) -> TurnLike:
        threads.append(office.slack.ask(f"and mind the empty cart, see {key}"))
        [waiting] = office.story.base.stores.jobs.take_unfinished(0.0)
        office.story.runner.run(waiting)
        return first

    def see(request: Request) -> TurnLike:
        assert "and mind the empty cart" in asked(request)
        return second

    threads: list[str] = []
    first, second, *rest = fix_turns()
    with in_office(tmp_path, in_turn(add, see, *rest), cloud=False) as office:
        key = open_ticket(office)
        say(office, key, calling(office))
        [told] = office.slack.runs(threads[0])
        assert told.shown.startswith("*Done, proven* · ")
        assert "pull request #1" in told.shown
        assert office.slack.calls(threads[0]) == []
        assert replies(office, key)[0].startswith("*Done, proven* · ")
        assert len(office.story.github.pull_requests(REPO)) == 1
        office.jira.answers(key)


def test_it_is_an_answer_where_a_run_waits_for_one(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert f"in cents for {key}, always" in asked(request)
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(*[QUESTION] * 3, see, *rest)) as office:
        key = ask(office)
        assert QUESTION.replace("`total`", "{{total}}") in replies(office, key)[0]
        thread = office.slack.ask(f"in cents for {key}, always")
        office.story.work()
        [told] = office.slack.runs(thread)
        assert told.shown.startswith("*Done, proven* · ")
        assert replies(office, key)[0].startswith("*Done, proven* · ")
        office.jira.answers(key)
        assert len(office.story.github.pull_requests(REPO)) == 1


def test_what_was_added_meanwhile_moves_along(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert "for all of acme/shop#1, please" in asked(request)
        assert "in cents, always" in asked(request)
        return first

    first, *rest = fix_turns()
    script = in_turn(*fix_turns(), see, *rest)
    with in_office(tmp_path, script, cloud=False) as office:
        story, slack = office.story, office.slack
        issue = story.ask(WISH)
        story.work()
        thread = slack.ask("for all of acme/shop#1, please")
        slack.ask("in cents, always", thread=thread)
        story.work()
        assert len(slack.runs(thread)) == 1
        assert len(story.pings(issue)) == 1
        assert len(story.replies(issue)) == len(slack.runs(thread)) + 1
        assert [one.state for one in story.jobs()] == [
            JobState.DONE,
            JobState.CANCELLED,
            JobState.DONE,
        ]


def test_s09_a_person_without_rights_links_nothing_and_learns_nothing(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, []) as office:
        story, slack, jira = office.story, office.slack, office.jira
        key = jira.fake.create("APP", jira.zoe, "The takeover", "Nobody must know.")
        jira.tell()
        thread = slack.ask(f"fix {key} in acme/shop", user=slack.max)
        story.work()
        office.link(slack.whisper(slack.max), "eve")
        story.work()
        whispers = [one.shown for one in slack.whispers(slack.max)]
        assert "takeover" not in "".join(whispers)
        assert (slack.shown(thread), jira.answers(key)) == ([], [])
        assert story.outcome().kind is not OutcomeKind.RESOLVED
        [job] = story.jobs()
        tied = story.base.stores.threads.threads_of(job.conversation_id)
        assert [one.ref.service for one in tied] == ["slack"]
