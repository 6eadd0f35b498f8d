"""A request from a form or a workflow has no thread, and is worked on all the same."""

import re
from pathlib import Path

from patchwright.core.types.base import RandomIds
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.webhook import DeliveryVerdict
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.runs.requests import RequestedRun, make_request_delivery
from tests.flow.story import REPO, Story, fix_turns, telling

TEXT = "The total ignores the pieces\n\n`total([450], [3])` is 450, and not 1350."


def _send(story: Story, login: str, delivery_id: str = "form-1") -> DeliveryVerdict:
    wanted = RequestedRun(
        repo=RepoRef(forge="github", full_name=REPO),
        thread=None,
        text=TEXT,
        plan_first=False,
    )
    actor = Actor(service="github", login=login)
    now = story.clock.now()
    delivery = make_request_delivery("web", delivery_id, wanted, actor, now)
    recorder = Recorder(story.base.stores.events, RandomIds())
    with story.base.database.writing() as connection:
        return recorder.record(connection, delivery).verdict


def test_it_ends_in_a_pull_request_and_says_nothing_elsewhere(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        assert _send(story, "alice") is DeliveryVerdict.ACCEPTED
        story.work()
        assert story.outcome().kind is OutcomeKind.RESOLVED
        [branch] = story.branches()
        named = re.fullmatch(r"patchwright/r(\d+)-the-total-ignores-the-pieces", branch)
        assert named
        [pull] = story.github.pull_requests(REPO)
        assert f"#{named[1]}" not in pull.body
        prompt = str(story.provider.requests[0])
        assert "a request of acme/shop" in prompt
        assert "is 450, and not 1350" in prompt


def test_sent_twice_it_is_one(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        assert _send(story, "alice") is DeliveryVerdict.ACCEPTED
        assert _send(story, "alice") is DeliveryVerdict.DUPLICATE
        story.work()
        assert len(story.github.pull_requests(REPO)) == 1


def test_a_stranger_starts_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        assert _send(story, "eve") is DeliveryVerdict.ACCEPTED
        story.work()
        outcome = story.outcome()
        assert (outcome.kind, outcome.reason) == (OutcomeKind.REFUSED, "not-permitted")
