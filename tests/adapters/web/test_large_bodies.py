"""Bodies of strangers hold up no delivery, whatever their size and pace."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from starlette.types import Message

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.web.body import (
    Bodies,
    BodiesFullError,
    BodyCutOffError,
    BodyTooLargeError,
    BodyTooSlowError,
    read_body,
)
from tests.adapters.store.world import trigger
from tests.adapters.web.serving import Site, serving
from tests.adapters.web.signed import SIGNATURE, signature, signed

REQUEST = trigger("k1").model_dump_json().encode()
MIB = 1 << 20
MOST = 4 * MIB


class Sender:
    """Sends a body in pieces, each when it is told to."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[Message] = asyncio.Queue()
        self.request = Request({"type": "http", "headers": []}, self._pieces.get)

    def send(self, piece: bytes, *, is_last: bool = False) -> None:
        message = {"type": "http.request", "body": piece, "more_body": not is_last}
        self._pieces.put_nowait(message)

    def leave(self) -> None:
        self._pieces.put_nowait({"type": "http.disconnect"})


async def read(bodies: Bodies, sender: Sender) -> bytes:
    async with bodies.body_of(sender.request, MOST) as body:
        return body


def begin(site: Site) -> socket.socket:
    """Announce a large body that looks signed, and send but the beginning of it."""
    url = httpx.URL(site.door())
    way = socket.create_connection((url.host, url.port or 80), 10)
    head = (
        f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {MOST}\r\n"
        f"{SIGNATURE}: {signature(b'')}\r\n\r\n"
    )
    way.sendall(head.encode() + b"x" * 1000)
    return way


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with serving(database, max_body_bytes=MOST) as site:
            yield site


def test_h12_a_large_delivery_passes_those_who_keep_theirs_open(site: Site) -> None:
    with ExitStack() as open_:
        for _ in range(12):
            open_.enter_context(begin(site))
        large = REQUEST.ljust(MOST)
        answer = httpx.post(site.door(), content=large, headers=signed(large))
    assert answer.status_code == 202


def test_h12_who_signs_nothing_is_refused_before_the_body_arrives(site: Site) -> None:
    url = httpx.URL(site.door())
    with socket.create_connection((url.host, url.port or 80), 10) as way:
        head = f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
        way.sendall(head.encode())
        assert way.recv(100).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("word", ["", "sha256=", "sha256=" + "g" * 64, "a" * 64])
def test_h12_a_signature_that_cannot_be_one_is_none(site: Site, word: str) -> None:
    headers = signed(REQUEST) | {SIGNATURE: word}
    assert httpx.post(site.door(), content=REQUEST, headers=headers).status_code == 401


def test_h12_a_body_that_does_not_come_to_its_end_is_given_up() -> None:
    async def wait() -> None:
        with pytest.raises(BodyTooSlowError):
            await read(Bodies(limit_s=0.01), Sender())

    asyncio.run(wait())


def test_h12_a_form_that_does_not_come_to_its_end_is_given_up() -> None:
    async def wait() -> None:
        async with asyncio.timeout(5):
            with pytest.raises(BodyTooSlowError):
                await read_body(Sender().request, 1000, limit_s=0.01)

    asyncio.run(wait())


def test_h12_dripping_does_not_prolong_a_body() -> None:
    async def drip() -> None:
        bodies, sender = Bodies(limit_s=0.05), Sender()
        reading = asyncio.ensure_future(read(bodies, sender))
        while not reading.done():
            sender.send(b"x")
            await asyncio.sleep(0.001)
        with pytest.raises(BodyTooSlowError):
            await reading

    asyncio.run(drip())


def test_h12_the_oldest_body_gives_way_where_the_memory_is_used_up() -> None:
    async def fill() -> None:
        bodies, old, new = Bodies(most=10), Sender(), Sender()
        first = asyncio.ensure_future(read(bodies, old))
        old.send(b"x" * 9)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        new.send(b"y" * 9, is_last=True)
        assert await read(bodies, new) == b"y" * 9
        with pytest.raises(BodiesFullError):
            await first

    asyncio.run(fill())


def test_h12_a_complete_body_is_not_taken_for_one_that_arrives() -> None:
    async def fill() -> None:
        bodies, old, new = Bodies(most=10), Sender(), Sender()
        old.send(b"x" * 9, is_last=True)
        new.send(b"y" * 9, is_last=True)
        async with AsyncExitStack() as held:
            body = await held.enter_async_context(bodies.body_of(old.request, MOST))
            with pytest.raises(BodiesFullError):
                await read(bodies, new)
        again = Sender()
        again.send(b"z" * 10, is_last=True)
        assert (body, await read(bodies, again)) == (b"x" * 9, b"z" * 10)

    asyncio.run(fill())


def _leave(sender: Sender) -> None:
    sender.leave()


def _send_too_much(sender: Sender) -> None:
    sender.send(b"x" * (MOST + 1))


@pytest.mark.parametrize(
    ("end", "error"),
    [(_leave, BodyCutOffError), (_send_too_much, BodyTooLargeError)],
)
def test_h12_a_body_that_was_not_read_takes_no_memory(
    end: Callable[[Sender], None], error: type[Exception]
) -> None:
    async def fail() -> None:
        bodies, bad, good = Bodies(most=10), Sender(), Sender()
        bad.send(b"x" * 10)
        end(bad)
        with pytest.raises(error):
            await read(bodies, bad)
        good.send(b"y" * 10, is_last=True)
        assert await read(bodies, good) == b"y" * 10

    asyncio.run(fail())
