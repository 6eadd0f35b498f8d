"""What no webhook brought is found by looking, once."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.webhook import Delivery, DeliveryVerdict, InboxResult
from patchwright.integrations.linear.search import LinearPolling, LinearSearch
from patchwright.integrations.linear.webhooks.triggers import LinearTriggerRules
from tests.adapters.linear.conftest import Scene


@dataclass
class Intake:
    """Keeps what it is given, each request once, and how far was read."""

    found: dict[str, Trigger] = field(default_factory=dict)
    marks: dict[str, datetime] = field(default_factory=dict)

    def submit(self, delivery: Delivery) -> Future[InboxResult]:
        assert isinstance(delivery.reading, Trigger)
        self.found.setdefault(delivery.reading.key, delivery.reading)
        done: Future[InboxResult] = Future()
        done.set_result(InboxResult(DeliveryVerdict.ACCEPTED))
        return done

    def read_up_to(self, source: str) -> datetime | None:
        return self.marks.get(source)

    def put(self, source: str, read_up_to: datetime) -> None:
        self.marks[source] = read_up_to


@dataclass
class Watch:
    scene: Scene
    intake: Intake
    poll: LinearPolling

    def look(self) -> list[tuple[TriggerKind, str]]:
        """Look after a few minutes; return all that was found so far."""
        self.scene.clock.advance(timedelta(minutes=5).total_seconds())
        self.poll()
        return [(one.kind, one.request) for one in self.intake.found.values()]


@pytest.fixture
def watch(scene: Scene) -> Watch:
    rules = LinearTriggerRules(
        workspace=scene.linear.fetch_workspace(), mention="@fixbot", label="patchwright"
    )
    intake = Intake()
    search = LinearSearch(scene.linear.api, rules)
    poll = LinearPolling(lambda: [search], intake.submit, intake, scene.clock)
    poll()
    # Past what a first look goes back for.
    scene.clock.advance(timedelta(minutes=10).total_seconds())
    poll()
    intake.found.clear()
    return Watch(scene, intake, poll)


def test_a_mention_and_a_description_are_found_once(watch: Watch) -> None:
    fake, ann = watch.scene.fake, watch.scene.ann
    fake.comment(watch.scene.key, ann, "@fixbot please fix it")
    watch.scene.clock.advance(1)
    fake.create("ENG", ann, "Other", "@fixbot look at this")
    wanted = [
        (TriggerKind.COMMENT_MENTION, "please fix it"),
        (TriggerKind.BODY_MENTION, "look at this"),
    ]
    assert watch.look() == wanted
    assert watch.look() == wanted


def test_an_edit_that_adds_a_mention_is_found(watch: Watch) -> None:
    fake, scene = watch.scene.fake, watch.scene
    comment = fake.comment(scene.key, scene.ann, "Hm.")
    watch.look()
    scene.clock.advance(3600)
    watch.poll()
    watch.intake.found.clear()
    fake.edit_comment(comment, scene.ann, "@fixbot go on")
    scene.clock.advance(1)
    fake.edit(scene.key, scene.ann, description="@fixbot fix the sum")
    assert watch.look() == [
        (TriggerKind.COMMENT_MENTION, "go on"),
        (TriggerKind.BODY_MENTION, "fix the sum"),
    ]


def test_a_label_that_nobody_has_answered_is_found(watch: Watch) -> None:
    scene = watch.scene
    scene.fake.label(scene.key, scene.ann, "patchwright")
    assert watch.look() == [(TriggerKind.LABEL, "")]
    assert watch.look() == [(TriggerKind.LABEL, "")]


def test_a_label_that_was_answered_or_taken_off_is_not(watch: Watch) -> None:
    scene = watch.scene
    scene.fake.label(scene.key, scene.ann, "patchwright")
    scene.clock.advance(5)
    scene.channel.acknowledge(scene.asked())
    other = scene.fake.create("ENG", scene.ann, "Other")
    scene.fake.label(other, scene.ann, "patchwright")
    scene.fake.unlabel(other, scene.ann, "patchwright")
    assert watch.look() == []


def test_a_session_its_prompts_and_its_stop_are_found(watch: Watch) -> None:
    scene = watch.scene
    scene.begin_session()
    scene.clock.advance(30)
    scene.fake.prompt(scene.key, scene.ann, "And the tests, please.")
    scene.clock.advance(30)
    scene.fake.stop(scene.key, scene.ann)
    assert watch.look() == [
        (TriggerKind.ASSIGNMENT, ""),
        (TriggerKind.COMMENT_MENTION, "And the tests, please."),
        (TriggerKind.COMMENT_MENTION, "stop"),
    ]


def test_our_own_words_are_not_found(watch: Watch) -> None:
    scene = watch.scene
    scene.channel.post(scene.ref, "Reply `@fixbot stop`, or say @fixbot stop.")
    assert watch.look() == []


def test_where_linear_does_not_answer_the_next_look_goes_on(watch: Watch) -> None:
    scene = watch.scene
    scene.fake.comment(scene.key, scene.ann, "@fixbot please fix it")
    scene.fake.fail_next("POST", "query ChangedIssues", 502, times=3)
    assert watch.look() == []
    assert watch.look() == [(TriggerKind.COMMENT_MENTION, "please fix it")]
