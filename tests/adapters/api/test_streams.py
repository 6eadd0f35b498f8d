"""Whoever follows a conversation gets what was, and then what comes."""

import threading
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from patchwright.client.models import EventView
from patchwright.core.events.actions import RunCommand
from patchwright.core.types.base import JobId
from tests.adapters.api.serving import (
    ADMIN,
    READER,
    STRANGER,
    WRITER,
    ApiSite,
)
from tests.adapters.api.serving import PULL as PULL_REQUEST
from tests.adapters.web.watching import append, begin_run, end_run
from tests.unit.resolver.endings import proven


def stream_of(site: ApiSite, job_id: JobId) -> str:
    return f"/api/conversations/{site.conversation(job_id)}/events/stream"


def test_a_client_gets_history_then_what_comes_and_ends_with_the_run(
    site: ApiSite,
) -> None:
    job_id, lease = begin_run(site.world)
    with site.client(READER) as client:
        told = client.stream_events(site.conversation(job_id))
        first = [next(told).id for _ in range(11)]
        assert first == list(range(1, 12))
        append(site.world, job_id, RunCommand(command="make"))
        assert next(told).payload.kind == "run_command"
        end_run(site.world, lease, proven(), PULL_REQUEST)
        assert [one.id for one in told] == [13]


def test_who_comes_again_misses_nothing_and_sees_nothing_twice(
    lite_site: ApiSite,
) -> None:
    job_id = lite_site.end_one()
    path = f"{stream_of(lite_site, job_id)}?after=2"
    answer = lite_site.ask("GET", path, headers={"Last-Event-ID": "9"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    ids = [line for line in answer.text.splitlines() if line.startswith("id: ")]
    assert ids == ["id: 10", "id: 11", "id: 12"]
    assert answer.text.endswith("event: end\ndata: {}\n\n")


def test_what_was_logged_is_no_message_of_its_own(lite_site: ApiSite) -> None:
    job_id, lease = begin_run(lite_site.world)
    append(lite_site.world, job_id, RunCommand(command="a\r\n\nevent: end\ndata: b"))
    end_run(lite_site.world, lease, proven(), PULL_REQUEST)
    text = lite_site.ask("GET", stream_of(lite_site, job_id)).text
    assert text.count("\nevent: end\n") == 1


def socket_to(
    site: ApiSite,
    job_id: JobId,
    *,
    after: int = 0,
    token: str = "",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> ClientConnection:
    found = site.conversation(job_id)
    url = f"{site.url.replace('http', 'ws', 1)}/sockets/events/{found}?after={after}"
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    sent = {**bearer, **headers}
    return connect(url, additional_headers=sent, open_timeout=5, proxy=None)


def ids_from(socket: ClientConnection) -> Iterator[int]:
    try:
        while True:
            yield EventView.model_validate_json(socket.recv(10)).id
    except ConnectionClosed:
        return


def test_a_socket_gets_the_same(site: ApiSite) -> None:
    job_id, lease = begin_run(site.world)
    with socket_to(site, job_id, token=READER, after=9) as socket:
        told = ids_from(socket)
        assert [next(told), next(told)] == [10, 11]
        append(site.world, job_id, RunCommand(command="make"))
        assert next(told) == 12
        end_run(site.world, lease, proven(), PULL_REQUEST)
        assert list(told) == [13]
        assert socket.close_code == 1000


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("", {}),
        (STRANGER, {}),
        ("", {"x-session": STRANGER}),
        ("", {"x-session": WRITER}),
        ("", {"x-session": WRITER, "origin": "https://evil.example"}),
        ("", {"x-session": WRITER, "origin": "null"}),
        (ADMIN, {"origin": "https://evil.example"}),
    ],
)
def test_a_socket_of_another_site_or_of_a_stranger_is_refused(
    lite_site: ApiSite, token: str, headers: dict[str, str]
) -> None:
    job_id = lite_site.end_one()
    with pytest.raises(InvalidStatus) as refused:
        socket_to(lite_site, job_id, token=token, headers=headers)
    assert refused.value.response.status_code == 403


def test_a_browser_on_our_own_page_may_open_one(lite_site: ApiSite) -> None:
    job_id = lite_site.end_one()
    headers = {"x-session": WRITER, "origin": lite_site.url}
    with socket_to(lite_site, job_id, headers=headers) as socket:
        assert list(ids_from(socket)) == list(range(1, 13))


def test_a_socket_does_not_take_much(lite_site: ApiSite) -> None:
    job_id, _ = begin_run(lite_site.world)
    with socket_to(lite_site, job_id, token=READER, after=11) as socket:
        socket.send("a" * 10_000)
        assert list(ids_from(socket)) == []
        assert socket.close_code == 1009


def test_an_address_that_has_no_socket_is_refused(lite_site: ApiSite) -> None:
    url = f"{lite_site.url.replace('http', 'ws', 1)}/nowhere"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, open_timeout=5, proxy=None)
    assert refused.value.response.status_code == 403


def test_who_leaves_makes_room(lite_site: ApiSite) -> None:
    job_id, _ = begin_run(lite_site.world)
    lite_site.api.feed.most_readers = 1
    with socket_to(lite_site, job_id, token=READER) as socket:
        next(ids_from(socket))
        full = lite_site.ask("GET", stream_of(lite_site, job_id))
        assert full.status_code == 503
        assert full.json()["code"] == "too-many-readers"
        with pytest.raises(InvalidStatus):
            socket_to(lite_site, job_id, token=READER)
    left = threading.Event()
    for _ in range(100):
        if lite_site.api.feed.readers == 0:
            break
        left.wait(0.05)
    with socket_to(lite_site, job_id, token=READER) as socket:
        assert next(ids_from(socket)) == 1


def test_a_stream_of_nothing_is_a_problem(lite_site: ApiSite) -> None:
    path = "/api/conversations/none/events/stream"
    answer: httpx.Response = lite_site.ask("GET", path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
