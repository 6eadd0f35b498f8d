"""How soon signed deliveries are answered while strangers keep connections open.

They sign with a word that only looks like a signature, send less than they announce,
and come again when they are cut off. The process has the files that most logins allow.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from bench.figures import CLOCK, Metric, p99_ms
from bench.intake import length_of, request, web
from bench.web import HOST

IDLE: Final = 1_500
LARGE: Final = 8
LARGE_BYTES: Final = 20_000_000
SMALL_DELIVERIES: Final = 300
LARGE_DELIVERIES: Final = 20
DELIVERY_BYTES: Final = 2_000_000
# GitHub has given up by then.
_PATIENCE_S: Final = 10.0
_PAUSE_S: Final = 0.02
# Soft alone: what a process may raise it to is the machine's affair.
_FILES: Final = ("--nofile=1024:",)


def measure() -> Iterator[Metric]:
    yield Metric("10 kB, nobody else there", _run(0, 0, SMALL_DELIVERIES, 10_000))
    idle = f"10 kB, {IDLE} connections that send no body"
    yield Metric(idle, _run(IDLE, 0, SMALL_DELIVERIES, 10_000))
    large = f"2 MB, {LARGE} slow bodies of 20 MB"
    yield Metric(large, _run(0, LARGE, LARGE_DELIVERIES, DELIVERY_BYTES))
    both = f"2 MB, {IDLE} connections and {LARGE} slow bodies"
    yield Metric(both, _run(IDLE, LARGE, LARGE_DELIVERIES, DELIVERY_BYTES))


def _run(idle: int, large: int, count: int, size: int) -> str:
    with web("ours", _FILES) as port:
        took = asyncio.run(_deliver_besieged(port, idle, large, count, size))
    answered = [one for one in took if one is not None]
    lost = len(took) - len(answered)
    p99 = p99_ms(answered) if len(answered) > 1 else "no figure"
    return f"{len(answered)} of {len(took)} answered, p99 {p99}, lost {lost}"


async def _deliver_besieged(
    port: int, idle: int, large: int, count: int, size: int
) -> list[float | None]:
    requests = [request(number, "a comment", size) for number in range(count)]
    strangers = [(1_000, 0)] * idle + [(LARGE_BYTES, 1_000)] * large
    async with _besieging(port, strangers):
        took = []
        for one in requests:
            took.append(await _deliver(port, one))
            await asyncio.sleep(_PAUSE_S)
    return took


@asynccontextmanager
async def _besieging(
    port: int, strangers: list[tuple[int, int]]
) -> AsyncIterator[None]:
    """Keep them there; each announces so many bytes and sends some now and then."""
    tasks = [asyncio.create_task(_stay(port, *one)) for one in strangers]
    await asyncio.sleep(2.0 if strangers else 0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _stay(port: int, announced: int, drip: int) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            await _announce(port, announced, drip)
        await asyncio.sleep(1.0)


async def _announce(port: int, announced: int, drip: int) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    head = [
        "POST /api/integration/github/events HTTP/1.1",
        f"Host: {HOST}",
        f"Content-Length: {announced}",
        "X-GitHub-Event: issue_comment",
        f"X-Hub-Signature-256: sha256={'0' * 64}",
    ]
    writer.write("\r\n".join([*head, "", ""]).encode())
    try:
        while not reader.at_eof():
            writer.write(b"x" * drip)
            await writer.drain()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0 if drip else 60.0):
                    await reader.read(1_000)
    finally:
        writer.close()


async def _deliver(port: int, sent: bytes) -> float | None:
    """Return how long it took to be answered with 2xx, None if it was not."""
    started = CLOCK.monotonic()
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(sent)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(length_of(head))
            writer.close()
    except (OSError, EOFError, TimeoutError):
        return None
    return CLOCK.monotonic() - started if b" 20" in head[:13] else None
