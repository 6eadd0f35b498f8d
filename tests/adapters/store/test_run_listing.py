"""The list of runs: what it says of each, to whom, by which filters, page by page."""

from datetime import timedelta

import pytest

from patchwright.core.events.actions import RaiseLimits
from patchwright.core.events.observations import (
    ModelReply,
)
from patchwright.core.events.payload import Source
from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Limits, Outcome
from patchwright.workers.runs.listing import RunListing, RunPage, Sight, read_cursor
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunFilter, RunRow, row_of_job
from patchwright.workers.runs.selection import RunStage
from patchwright.workers.store.jobs import cancel_job
from patchwright.workers.store.threads import move_repository
from tests.adapters.store.listed_runs import SPENT, ask, begin, end
from tests.adapters.store.world import REPO, World, trigger

OTHER = RepoRef(forge="github", full_name="acme/other")
BOB = Actor(service="github", login="bob", external_id="2")
CHAT = TalkThread(
    service="slack", place="T1/C0123", kind=ThreadKind.CHAT, id="1700000000.1"
)


@pytest.fixture
def listing(world: World) -> RunListing:
    reader = RunReader(world.jobs, world.events, world.outcomes, world.effects)
    return RunListing(world.database, reader)


def ids(page: RunPage) -> list[str]:
    return [one.id for one in page.rows]


def folded(world: World, job_id: JobId) -> RunRow:
    """Return the row as the run's own events tell it."""
    reader = RunReader(world.jobs, world.events, world.outcomes, world.effects)
    job = world.job(job_id)
    return row_of_job(job, reader.summarize(job, reader.span(job)))


def test_an_ended_run_is_listed_as_its_log_tells_it(
    world: World, listing: RunListing
) -> None:
    job_id = ask(world, 7, title="")
    lease = begin(world, job_id)
    raised = RaiseLimits(iterations=10, cost_usd=2.0, reason="alice")
    world.events.open(world.conversation(job_id)).append(Source.USER, raised)
    end(world, lease)
    [row] = listing.page(RunFilter()).rows
    assert row == folded(world, job_id)
    assert (row.title, row.thread, row.proof) == ("Wrong sum", "acme/shop#7", "proven")
    assert row.limits == Limits(max_iterations=60, max_cost_usd=5.0)
    assert (row.usage, row.steps, row.stage) == (SPENT, 7, RunStage.ENDED)


def test_a_run_at_work_shows_what_it_costs_so_far(
    world: World, listing: RunListing
) -> None:
    job_id = ask(world, 7)
    lease = begin(world, job_id)
    log = world.events.open(world.conversation(job_id), lease)
    for expected in (1, 2):
        log.append(Source.AGENT, ModelReply(model="m", text="I look.", usage=SPENT))
        [row] = listing.page(RunFilter()).rows
        assert row == folded(world, job_id)
        assert (row.steps, row.outcome) == (expected, "")
        assert row.usage.cost_usd == pytest.approx(0.41 * expected)


def test_what_waits_for_people_shows_why_until_it_works_again(
    world: World, listing: RunListing
) -> None:
    job_id = ask(world, 7)
    waits = Outcome(kind=OutcomeKind.NEEDS_INPUT, waits=True, usage=SPENT, iterations=2)
    kept = world.outcomes.store(
        begin(world, job_id), waits, (), read_up_to=99, now=world.clock.now()
    )
    world.outcomes.wait(kept)
    [row] = listing.page(RunFilter(outcome=OutcomeKind.NEEDS_INPUT)).rows
    assert row == folded(world, job_id)
    assert (row.stage, row.outcome) == (RunStage.WAITING, "needs-input")
    world.deliver(trigger("answer").replace(kind=TriggerKind.REPLY))
    [row] = listing.page(RunFilter()).rows
    assert (row.stage, row.outcome, row.position) == (RunStage.QUEUED, "", 1)
    assert listing.page(RunFilter(outcome=OutcomeKind.NEEDS_INPUT)).rows == ()


def test_runs_that_wait_for_a_worker_have_a_place_in_the_queue(
    world: World, listing: RunListing
) -> None:
    first, second, third = (ask(world, number) for number in (1, 2, 3))
    world.claim(first)
    places = {one.id: one.position for one in listing.page(RunFilter()).rows}
    assert places == {first: None, second: 1, third: 2}


def test_an_answer_to_a_command_is_no_run(world: World, listing: RunListing) -> None:
    world.ask(request="status")
    assert listing.page(RunFilter()).rows == ()


def test_each_filter_leaves_what_fits(world: World, listing: RunListing) -> None:
    done = ask(world, 1, title="Sum of 100% of the pieces")
    end(world, begin(world, done))
    queued = ask(world, 2, repo=OTHER, actor=BOB)
    running = ask(world, 3, title="100 pieces")
    begin(world, running)
    world.clock.advance(1)
    waiting = world.deliver(_in_chat()).job_id
    for wanted, found in (
        (RunFilter(), [waiting, running, queued, done]),
        (RunFilter(stage=RunStage.ENDED), [done]),
        (RunFilter(stage=RunStage.RUNNING), [running]),
        (RunFilter(stage=RunStage.QUEUED), [waiting, queued]),
        (RunFilter(stage=RunStage.UNFINISHED), []),
        (RunFilter(outcome=OutcomeKind.RESOLVED), [done]),
        (RunFilter(outcome=OutcomeKind.FAILED), []),
        (RunFilter(source="slack"), [waiting]),
        (RunFilter(requester="bob"), [queued]),
        (RunFilter(repo="acme/other"), [queued]),
        (RunFilter(repo="other"), []),
        (RunFilter(text="SUM OF 100%"), [done]),
        (RunFilter(text="100_"), []),
        (RunFilter(text="pieces", stage=RunStage.RUNNING), [running]),
    ):
        page = listing.page(wanted)
        assert ids(page) == found, wanted
        assert all(wanted.has(one) for one in page.rows), wanted


def _in_chat() -> Trigger:
    return Trigger(
        key="c1",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="slack", login="U2", external_id="U2", host="T1"),
        thread=CHAT,
        request="fix it",
        repo=REPO,
    )


def test_pages_follow_each_other_while_new_runs_come(
    world: World, listing: RunListing
) -> None:
    asked = [ask(world, number) for number in range(1, 6)]
    page = listing.page(RunFilter(), limit=2)
    assert ids(page) == asked[:2:-1]
    ask(world, 6)
    page = listing.page(RunFilter(), after=read_cursor(page.after), limit=2)
    assert ids(page) == asked[2:0:-1]
    page = listing.page(RunFilter(), after=read_cursor(page.after), limit=2)
    assert (ids(page), page.after) == ([asked[0]], "")
    assert len(list(listing.every_row(RunFilter()))) == 6


def test_runs_of_the_same_moment_are_each_listed_once(
    world: World, listing: RunListing
) -> None:
    asked = {world.deliver(_of_issue(number)).job_id for number in range(1, 6)}
    found: list[str] = []
    page = listing.page(RunFilter(), limit=2)
    found += ids(page)
    while page.after:
        page = listing.page(RunFilter(), after=read_cursor(page.after), limit=2)
        found += ids(page)
    assert (len(found), set(found)) == (5, asked)


def _of_issue(number: int) -> Trigger:
    thread = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=number)
    return trigger(f"k{number}").replace(thread=thread)


@pytest.mark.parametrize(
    "text", ["", "1", "x-1", "-1-a", f"{'9' * 18}-a", "1-", "1-%", "1-a\n"]
)
def test_what_no_page_has_named_is_no_place(text: str) -> None:
    assert read_cursor(text) is None


def test_somebody_sees_what_they_may_and_is_asked_about_once(
    world: World, listing: RunListing
) -> None:
    """The repository decides, and for what was said in private the right to write."""
    public = ask(world, 1)
    world.clock.advance(1)
    private = world.deliver(_in_chat()).job_id
    hidden = [ask(world, number, repo=OTHER) for number in range(2, 8)]
    unknown = world.deliver(_in_chat().replace(key="c2", repo=None, thread=_CHAT_2))
    asked: list[tuple[str, bool]] = []

    def as_reader(repo: RepoRef, is_private: bool) -> bool:  # noqa: FBT001 - a `MaySee`
        asked.append((repo.full_name, is_private))
        return repo == REPO and not is_private

    def as_writer(repo: RepoRef, is_private: bool) -> bool:  # noqa: FBT001 - a `MaySee`
        del is_private
        return repo == REPO

    page = listing.page(RunFilter(), sight=Sight(as_reader), limit=2)
    assert (ids(page), page.after) == ([public], "")
    assert len(asked) == len(set(asked)) == 3
    assert ids(listing.page(RunFilter(), sight=Sight(as_writer))) == [private, public]
    everything = ids(listing.page(RunFilter()))
    assert set(everything) == {public, private, unknown.job_id, *hidden}
    assert ids(listing.page(RunFilter(), sight=Sight(lambda *_: False))) == []


def test_who_sees_one_of_many_repositories_has_all_of_its_runs(
    world: World, listing: RunListing
) -> None:
    private = world.deliver(_in_chat()).job_id
    public = [ask(world, 1), ask(world, 2)]
    for number in range(10, 160):
        other = RepoRef(forge="github", full_name=f"acme/other-{number}")
        ask(world, number, repo=other)
    elsewhere = ask(world, 3, repo=RepoRef(forge="gitlab", full_name="acme/other-7"))
    asked: list[tuple[str, bool]] = []

    def may_see(repo: RepoRef, is_private: bool) -> bool:  # noqa: FBT001 - a `MaySee`
        asked.append((str(repo), is_private))
        return repo == REPO and not is_private

    sight = Sight(may_see, "github")
    first = listing.page(RunFilter(), sight=sight, limit=1)
    assert (ids(first), bool(first.after)) == ([public[1]], True)
    after = read_cursor(first.after)
    assert ids(listing.page(RunFilter(), sight=sight, after=after)) == [public[0]]
    assert len(asked) == len(set(asked)) == 152
    assert {elsewhere, private}.isdisjoint(ids(listing.page(RunFilter(), sight=sight)))
    writer = Sight(lambda repo, _: repo == REPO, "github")
    seen = ids(listing.page(RunFilter(), sight=writer))
    assert seen == [*reversed(public), private]


_CHAT_2 = CHAT.replace(id="1700000000.2")


def test_a_thread_that_was_linked_later_makes_the_run_private(
    world: World, listing: RunListing
) -> None:
    job_id = ask(world, 1)
    seen: set[bool] = set()

    def note(_repo: RepoRef, is_private: bool) -> bool:  # noqa: FBT001 - a `MaySee`
        seen.add(is_private)
        return not is_private

    assert ids(listing.page(RunFilter(), sight=Sight(note))) == [job_id]
    world.threads.link(world.conversation(job_id), CHAT, world.clock.now())
    assert ids(listing.page(RunFilter(), sight=Sight(note))) == []
    assert seen == {True, False}


def test_runs_follow_a_repository_that_is_renamed(
    world: World, listing: RunListing
) -> None:
    done = ask(world, 1)
    end(world, begin(world, done))
    new = RepoRef(forge="github", full_name="acme/store")
    with world.database.writing() as connection:
        move_repository(connection, REPO, new)
    assert listing.page(RunFilter(repo="acme/shop")).rows == ()
    [row] = listing.page(RunFilter(repo="acme/store")).rows
    assert row.thread == "acme/store#1"


def test_a_run_that_was_cancelled_has_ended_without_an_outcome(
    world: World, listing: RunListing
) -> None:
    job_id = ask(world, 1)
    with world.database.writing() as connection:
        cancel_job(connection, job_id, world.clock.now() + timedelta(seconds=1))
    [row] = listing.page(RunFilter(stage=RunStage.ENDED)).rows
    assert (row.id, row.outcome, row.position) == (job_id, "", None)
