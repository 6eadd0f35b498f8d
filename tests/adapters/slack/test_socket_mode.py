"""What comes through a connection of ours is acknowledged once it is taken in."""

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from slack_sdk import WebClient

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import (
    AuthenticationError,
    PatchwrightError,
    ServiceUnavailableError,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.socket_mode import SocketMode, TakeDelivery
from patchwright.integrations.slack.webhooks.reader import SocketReceiver, delivery_id
from tests.fakes.slack_socket import TIMEOUT_S, FakeSocketMode
from tests.unit.slack.samples import LISTENING, command, envelope, mention, press

# What is nested deeper, or longer, than Python reads; and what is no JSON.
HOSTILE = ["[" * 100_000 + "]" * 100_000, "9" * 5_000, "["]
Taken = tuple[Mapping[str, str], bytes]
CLOCK = SystemClock()


@pytest.fixture
def fake() -> Iterator[FakeSocketMode]:
    with FakeSocketMode() as fake:
        yield fake


def connect(
    fake: FakeSocketMode,
    take: TakeDelivery,
    *,
    token: str = "xapp-1",
    ping_interval_s: float = 5,
) -> SocketMode:
    client = WebClient(base_url=f"{fake.api_url}/", retry_handlers=[])
    return SocketMode(client, SecretStr(token), take, CLOCK, ping_interval_s)


class Intake:
    """Takes everything in, and answers with what it was given."""

    def __init__(self, answer: dict[str, object] | None = None) -> None:
        self.taken: queue.Queue[Taken] = queue.Queue()
        self._answer = answer

    def __call__(
        self, headers: Mapping[str, str], body: bytes
    ) -> dict[str, object] | None:
        self.taken.put((headers, body))
        return self._answer

    def next(self) -> Taken:
        return self.taken.get(timeout=TIMEOUT_S)


@pytest.mark.parametrize(
    ("kind", "payload", "name"),
    [
        ("events_api", envelope(mention()), "Ev1"),
        ("slash_commands", command("fix it"), "111.222.abc"),
        ("interactive", press({}), "111.222.abc"),
    ],
)
def test_envelope_is_read_like_a_delivery(
    fake: FakeSocketMode, kind: str, payload: dict[str, Any], name: str
) -> None:
    inbox = Intake()
    with connect(fake, inbox):
        envelope_id = fake.next_line().deliver(kind, payload)
        headers, body = inbox.next()
        assert fake.next_answer() == {"envelope_id": envelope_id}
    assert delivery_id(headers, body) == name
    assert json.loads(body) == payload
    SocketReceiver(LISTENING).read(headers, body)


def test_nothing_is_acknowledged_before_it_is_taken_in(fake: FakeSocketMode) -> None:
    early: queue.Queue[bool] = queue.Queue()

    def take(_headers: Mapping[str, str], _body: bytes) -> None:
        early.put(not fake.acknowledged.empty())

    with connect(fake, take):
        fake.next_line().deliver("events_api", envelope(mention()))
        assert not early.get(timeout=TIMEOUT_S)
        fake.next_answer()


def test_what_is_not_taken_in_is_not_acknowledged(fake: FakeSocketMode) -> None:
    refused = threading.Event()

    def take(_headers: Mapping[str, str], body: bytes) -> None:
        if delivery_id({}, body) == "Ev1":
            refused.set()
            raise PatchwrightError("the database is away")

    with connect(fake, take):
        line = fake.next_line()
        line.deliver("events_api", envelope(mention()))
        assert refused.wait(TIMEOUT_S)
        second = line.deliver("events_api", envelope(mention(), event_id="Ev2"))
        assert fake.next_answer() == {"envelope_id": second}
    assert fake.acknowledged.empty()


@pytest.mark.parametrize(
    ("answers", "expected"), [(True, {"options": []}), (False, None)]
)
def test_answer_goes_with_the_acknowledgement_where_slack_takes_one(
    fake: FakeSocketMode, *, answers: bool, expected: dict[str, Any] | None
) -> None:
    with connect(fake, Intake({"options": []})):
        fake.next_line().deliver("interactive", press({}), answers=answers)
        assert fake.next_answer().get("payload") == expected


def test_connection_is_made_anew_when_slack_asks_for_it(fake: FakeSocketMode) -> None:
    inbox = Intake()
    with connect(fake, inbox):
        fake.next_line().disconnect()
        fake.next_line().deliver("events_api", envelope(mention()))
        inbox.next()
        fake.next_answer()


def test_connection_is_made_anew_when_it_is_closed(fake: FakeSocketMode) -> None:
    inbox = Intake()
    with connect(fake, inbox, ping_interval_s=0.05):
        fake.next_line().hang_up()
        fake.next_line().deliver("events_api", envelope(mention()))
        inbox.next()
        fake.next_answer()


def test_connection_that_is_refused_later_is_tried_again(fake: FakeSocketMode) -> None:
    inbox = Intake()
    with connect(fake, inbox, ping_interval_s=0.05):
        first = fake.next_line()
        fake.app_token = "xapp-2"
        first.hang_up()
        assert fake.refused.get(timeout=TIMEOUT_S)
        fake.app_token = "xapp-1"
        fake.next_line().deliver("events_api", envelope(mention()))
        inbox.next()


def test_large_envelope_arrives_whole(
    fake: FakeSocketMode, corpus: Path | None
) -> None:
    payload = envelope(mention(f"<@UBOT> {'größer ' * 150_000}"))
    if corpus is not None:
        folder = corpus / "slack" / "socket-mode"
        frame = json.loads((folder / "interactive.block_actions.json").read_bytes())
        payload |= {"blocks": frame["payload"]}
    inbox = Intake()
    with connect(fake, inbox):
        fake.next_line().deliver("events_api", payload)
        headers, body = inbox.next()
        fake.next_answer()
    assert isinstance(SocketReceiver(LISTENING).read(headers, body), Trigger)
    assert json.loads(body) == payload


def test_leaving_ends_at_once(fake: FakeSocketMode) -> None:
    for _ in range(3):
        with connect(fake, Intake()):
            fake.next_line().deliver("events_api", envelope(mention()))
            # Nothing more is on its way now that would wake the client.
            fake.next_answer()
            before = CLOCK.monotonic()
        assert CLOCK.monotonic() - before < 0.9
    left = [one.name for one in threading.enumerate() if "ThreadPool" in one.name]
    assert left == []


def test_wrong_token_is_refused(fake: FakeSocketMode) -> None:
    with pytest.raises(AuthenticationError), connect(fake, Intake(), token="xapp-9"):
        pass


def test_server_that_is_away_is_unavailable() -> None:
    with FakeSocketMode() as fake:
        away = connect(fake, Intake())
    with pytest.raises(ServiceUnavailableError), away:
        pass


# slack_sdk leaves the socket of a refused WebSocket to Python to close.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_refused_websocket_is_unavailable(fake: FakeSocketMode) -> None:
    fake.refuses = True
    with pytest.raises(ServiceUnavailableError), connect(fake, Intake()):
        pass


@pytest.mark.parametrize("value", HOSTILE)
def test_a_frame_that_cannot_be_read_is_dropped_and_the_connection_goes_on(
    fake: FakeSocketMode, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Intake()
    frame = '{"type": "events_api", "envelope_id": "E1", "payload": {"x": %s}}'
    with connect(fake, inbox):
        line = fake.next_line()
        line.send_text(frame % value)
        second = line.deliver("events_api", envelope(mention()))
        assert fake.next_answer() == {"envelope_id": second}
    assert fake.acknowledged.empty()
    assert [one for one in caplog.records if one.exc_info] == []
