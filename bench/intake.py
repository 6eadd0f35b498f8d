"""How fast signed deliveries are taken in, on 16 connections."""

import asyncio
import hashlib
import hmac
import json
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.figures import CLOCK, Metric, p99_ms, rate
from bench.web import HOST, MENTION, SECRET
from tests.provision.servers import free_port, running

CONNECTIONS = 16
REQUESTS = 3_000
WARM_UP = 200
BODY_BYTES = 10_000


def measure() -> Iterator[Metric]:
    bare = _load("bare", "a comment")
    yield _figure(
        "comments that ask for nothing, stored", _load("ours", "a comment"), bare
    )
    yield _figure("mentions, each a new job", _load("ours", f"{MENTION} go"), bare)


Loaded = tuple[float, list[float]]


def _figure(what: str, ours: Loaded, bare: Loaded) -> Metric:
    return Metric(what, _text(ours), f"FastAPI + HMAC: {_text(bare)}")


def _text(loaded: Loaded) -> str:
    seconds, each_s = loaded
    return f"{rate(len(each_s), seconds)}, p99 {p99_ms(each_s)}"


def _load(kind: str, words: str) -> Loaded:
    """Return how long all requests took together, and each of them."""
    requests = [request(number, words) for number in range(WARM_UP + REQUESTS)]
    with web(kind) as port:
        asyncio.run(_send_all(port, requests[:WARM_UP]))
        started = CLOCK.monotonic()
        each_s = asyncio.run(_send_all(port, requests[WARM_UP:]))
        return CLOCK.monotonic() - started, each_s


@contextmanager
def web(kind: str, limits: Sequence[str] = ()) -> Iterator[int]:
    """Run a web process; `limits` are arguments of `prlimit`."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        argv = [sys.executable, "-m", "bench.web", kind, str(port), folder]
        log = Path(folder, "log")
        # Started where this program was, so that it finds the same modules.
        argv = ["env", "-C", str(Path.cwd()), *argv]
        argv = ["prlimit", *limits, "--", *argv] if limits else argv
        with running(argv, log=log, answers=lambda: _answers(port)):
            yield port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def request(number: int, words: str, size: int = BODY_BYTES) -> bytes:
    """Make a signed delivery of a comment that no other one has."""
    ann = {"login": "ann", "id": 11, "type": "User"}
    payload = {
        "action": "created",
        "repository": {"full_name": "acme/shop"},
        "sender": ann,
        "issue": {"number": number + 1, "title": "Wrong sum", "body": "x", "user": ann},
        "comment": {"id": number + 1, "body": words, "user": ann},
        "padding": "",
    }
    payload["padding"] = "x" * (size - len(json.dumps(payload)))
    body = json.dumps(payload).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    head = [
        "POST /api/integration/github/events HTTP/1.1",
        f"Host: {HOST}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "X-GitHub-Event: issue_comment",
        f"X-GitHub-Delivery: {number}",
        f"X-Hub-Signature-256: sha256={signature}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


async def _send_all(port: int, requests: list[bytes]) -> list[float]:
    waiting = iter(requests)
    senders = [_send(port, waiting) for _ in range(CONNECTIONS)]
    return [took for part in await asyncio.gather(*senders) for took in part]


async def _send(port: int, waiting: Iterator[bytes]) -> list[float]:
    """Send one request after the other on one connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    each_s = []
    for request in waiting:
        started = CLOCK.monotonic()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(length_of(head))
        each_s.append(CLOCK.monotonic() - started)
        if b" 20" not in head[:13]:
            raise RuntimeError(head.decode())
    writer.close()
    await writer.wait_closed()
    return each_s


def length_of(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    sizes = [line for line in lines if line.startswith(b"content-length:")]
    return int(sizes[0].partition(b":")[2]) if sizes else 0
