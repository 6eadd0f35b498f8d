"""Large bodies of strangers wait for each other, and hold up no other delivery."""

import asyncio
import socket
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path

import httpx
import pytest
from fastapi import Request

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.web.body import BodyTooSlowError, LargeBodies
from tests.adapters.store.world import trigger
from tests.adapters.web.serving import Site, serving
from tests.adapters.web.signed import signed

REQUEST = trigger("k1").model_dump_json().encode()
MIB = 1 << 20
MOST = 4 * MIB
AT_ONCE = 4


def announced(size: int | None) -> Request:
    length = [] if size is None else [(b"content-length", str(size).encode())]
    return Request({"type": "http", "headers": length})


def begin(site: Site) -> socket.socket:
    """Announce a large body, and send but the beginning of it."""
    url = httpx.URL(site.door())
    way = socket.create_connection((url.host, url.port or 80), 10)
    head = f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {MOST}\r\n\r\n"
    way.sendall(head.encode() + b"x" * 1000)
    return way


def test_others_are_served_while_strangers_keep_their_large_bodies_open(
    tmp_path: Path,
) -> None:
    with (
        closing(Database(f"sqlite:///{tmp_path}/web.db")) as database,
        ExitStack() as open_,
    ):
        upgrade(database)
        with serving(database, max_body_bytes=MOST) as site:
            for _ in range(3 * AT_ONCE):
                open_.enter_context(begin(site))
            answer = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
            open_.close()
            large = REQUEST.ljust(MOST)
            again = httpx.post(site.door(), content=large, headers=signed(large, "d2"))
    assert (answer.status_code, again.status_code) == (202, 200)


@pytest.mark.parametrize("size", [MIB + 1, MOST, None])
def test_only_so_many_large_bodies_are_in_memory_at_once(size: int | None) -> None:
    async def fill() -> None:
        bodies = LargeBodies()
        async with AsyncExitStack() as held:
            for _ in range(AT_ONCE):
                await held.enter_async_context(bodies.place_for(announced(size), MOST))
            for small in (0, MIB, MOST + 1):
                async with bodies.place_for(announced(small), MOST):
                    pass
            one_more = bodies.place_for(announced(size), MOST)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(one_more.__aenter__(), 0.01)
        async with bodies.place_for(announced(size), MOST):
            pass

    asyncio.run(fill())


def test_who_does_not_come_to_an_end_loses_the_place() -> None:
    async def hold() -> None:
        bodies = LargeBodies(patience_s=0.01)
        for _ in range(AT_ONCE + 1):
            with pytest.raises(BodyTooSlowError):
                async with bodies.place_for(announced(MOST), MOST):
                    await asyncio.Event().wait()

    asyncio.run(hold())
