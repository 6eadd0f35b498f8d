"""What breaks beside the run: services that are away, workers that die."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from patchwright.core.types.base import ConversationId, JobId, RandomIds
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.run_store import OtherConversation
from patchwright.workers.jobs.worker import JobWorker
from patchwright.workers.store.requests import ConversationLinkStore
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import in_office
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns
from tests.flow.tickets import open_ticket, reply

WISH = "@patchwright please fix the sum"
LEASE_IS_OVER_S = 1_000


def test_a_mirror_that_is_away_holds_up_nothing_and_is_told_later(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, fix_turns(), cloud=False) as office:
        story, fake = office.story, office.jira.fake
        key = open_ticket(office)
        fake.fail_next("POST", f"/rest/api/2/issue/{key}/comment", 503, times=2)
        thread = office.slack.ask(f"please fix the total, see {key}")
        story.work()
        assert office.jira.answers(key) == []
        assert office.slack.runs(thread)[0].shown.startswith("*Done, proven* · ")
        assert story.jobs()[0].state is JobState.DELIVERING
        story.work_later(10)
        assert reply(office, key).startswith("*Done, proven* · [pull request #1|")
        assert story.jobs()[0].state is JobState.DONE
        assert len(office.slack.runs(thread)) == 1
        office.slack.calls(thread)


def test_a_mirror_shows_that_a_run_was_stopped_and_by_nobody_s_name(
    tmp_path: Path,
) -> None:
    def stop(_request: Request) -> TurnLike:
        office.slack.ask("stop", thread=thread)
        return call("shell", command="touch must_not_run")

    with in_office(tmp_path, in_turn(stop), cloud=False) as office:
        key = open_ticket(office)
        thread = office.slack.ask(f"please fix the total, see {key}")
        office.story.work()
        assert reply(office, key).startswith("*Stopped* · 1 step")
        assert "alice" not in reply(office, key)
        office.slack.answers(thread)


def test_a_mirror_shows_that_a_run_works_and_that_it_failed(tmp_path: Path) -> None:
    def look(_request: Request) -> TurnLike:
        shown.append(reply(office, key))
        return call("reject", reason="It cannot be done here.")

    shown: list[str] = []
    with in_office(tmp_path, in_turn(look), cloud=False) as office:
        key = open_ticket(office)
        thread = office.slack.ask(f"please fix the total, see {key}")
        office.story.work()
        assert shown[0].startswith(("*Queued*", "*Working on it*"))
        assert "patchwright stop}} to stop" in shown[0]
        assert reply(office, key).startswith("*Declined* · 1 step")
        assert "alice" not in shown[0] + reply(office, key)
        office.slack.answers(thread)


class Killed(BaseException):
    """Ends a worker as nothing can that is caught."""


class DyingStore(ConversationLinkStore):
    """Lets the worker die `after` a step, or right before it."""

    step, after = "", False

    def link(
        self, lease: Lease, ref: ThreadRef, now: datetime
    ) -> ConversationId | None:
        self._die("link", after=False)
        linked = super().link(lease, ref, now)
        self._die("link", after=True)
        return linked

    def move(
        self,
        lease: Lease,
        trigger: Trigger,
        there: OtherConversation,
        now: datetime,
        *,
        joins: bool = True,
    ) -> JobId | None:
        self._die("move", after=False)
        moved = super().move(lease, trigger, there, now, joins=joins)
        self._die("move", after=True)
        return moved

    def _die(self, step: str, *, after: bool) -> None:
        if (step, after) == (self.step, self.after):
            raise Killed


def _die_at(story: Story, step: str, *, after: bool) -> None:
    """Have a worker take the job that waits, and die at that step."""
    services = story.runner._services
    base = story.base
    links = DyingStore(base.database, base.stores.events, RandomIds())
    links.step, links.after = step, after
    worker = JobWorker(replace(services, links=links), "the one that dies")
    [waiting] = base.stores.jobs.take_unfinished(0.0)
    with pytest.raises(Killed):
        worker.run(waiting)


@pytest.mark.parametrize("step", ["link", "move"])
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_between_the_steps_loses_no_request_and_doubles_none(
    tmp_path: Path, step: str, *, after: bool
) -> None:
    with in_office(tmp_path, [*fix_turns(), *fix_turns()], cloud=False) as office:
        story, slack = office.story, office.slack
        issue = story.ask(WISH)
        story.work()
        thread = slack.ask("and the empty cart, see acme/shop#1")
        _die_at(story, step, after=after)
        story.work_later(LEASE_IS_OVER_S)
        states = [one.state for one in story.jobs()]
        assert states == [JobState.DONE, JobState.CANCELLED, JobState.DONE]
        assert len(slack.runs(thread)) == 1
        assert len(story.replies(issue)) == len(["asked", "moved"])
        assert len(story.github.pull_requests(REPO)) == 1
        story.pings(issue)
        slack.calls(thread)
