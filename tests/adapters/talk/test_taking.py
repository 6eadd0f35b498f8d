"""What comes through a connection of ours is stored before it is acknowledged."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.triggers import HomeRequest, InteractionRequest
from patchwright.core.webhook import WebhookSource
from patchwright.integrations.slack.webhooks.reader import SocketReceiver, delivery_id
from patchwright.integrations.slack.webhooks.triggers import SlackTriggerRules
from patchwright.workers.db.tables import deliveries
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.plugins.host import SocketDeliveries
from tests.adapters.slack.conftest import Office
from tests.adapters.store.world import World
from tests.fakes.slack.fake import FakeSlack

Take = Callable[[Mapping[str, str], bytes], dict[str, object] | None]

JSON = {"content-type": "application/json"}
ENTRANCE = WebhookSource(
    receiver=SocketReceiver(SlackTriggerRules(command="/patchwright")),
    identify=delivery_id,
)


class InteractionHandler:
    """Answers each prompt alike, and keeps what comes after."""

    def __init__(self, answer: Mapping[str, object]) -> None:
        self._answer = answer
        self.followed: list[InteractionRequest] = []
        self.is_done = Event()

    def answer(self, prompt: InteractionRequest) -> Mapping[str, object]:  # noqa: ARG002 - all alike
        return self._answer

    def follow(self, prompt: InteractionRequest) -> None:
        self.followed.append(prompt)
        self.is_done.set()


def taking(world: World, inbox: Inbox, front: InteractionHandler | None = None) -> Take:
    source = replace(ENTRANCE, interactions=front)
    return partial(SocketDeliveries("slack", inbox, world.clock), source)


def body_of(fake: FakeSlack, name: str) -> bytes:
    return fake.delivery(name).body


def test_a_request_is_stored_and_nothing_is_answered(
    world: World, fake: FakeSlack, office: Office
) -> None:
    fake.mention(office.ann, office.channel, "fix it")
    body = body_of(fake, "app_mention")
    with world.open_intake() as inbox:
        take = taking(world, inbox)
        assert take(JSON, body) is None
        assert take(JSON, body) is None
    [row] = world.rows(deliveries)
    assert (row["service"], row["verdict"]) == ("slack", "accepted")
    assert len(world.dispatched) == 1


def test_what_is_no_delivery_is_refused(world: World) -> None:
    with world.open_intake() as inbox, pytest.raises(PayloadError):
        taking(world, inbox)(JSON, b"{")


def test_a_challenge_needs_no_answer_here(world: World) -> None:
    body = b'{"type": "url_verification", "challenge": "word"}'
    with world.open_intake() as inbox:
        assert taking(world, inbox)(JSON, body) is None
    assert world.rows(deliveries) == []


@pytest.mark.parametrize("answer", [{}, {"options": []}])
def test_a_prompt_is_answered_and_what_follows_comes_after(
    world: World, fake: FakeSlack, office: Office, answer: dict[str, object]
) -> None:
    fake.open_home(office.ann)
    front = InteractionHandler(answer)
    with world.open_intake() as inbox:
        found = taking(world, inbox, front)(JSON, body_of(fake, "app_home_opened"))
    assert found == (answer or None)
    assert front.is_done.wait(10)
    [prompt] = front.followed
    assert isinstance(prompt, HomeRequest)
    assert prompt.actor.external_id == office.ann
    assert world.rows(deliveries) == []


def test_without_anybody_to_answer_a_prompt_gets_nothing(
    world: World, fake: FakeSlack, office: Office
) -> None:
    fake.open_home(office.ann)
    with world.open_intake() as inbox:
        assert taking(world, inbox)(JSON, body_of(fake, "app_home_opened")) is None
