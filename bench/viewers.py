"""How far behind people are who watch a run: `bench.viewers URL COUNT` watches."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from bench.figures import CLOCK, Metric, p50_p95
from patchwright.core.events.observations import ModelReply
from patchwright.core.types.base import JobId
from patchwright.workers.db.database import Database
from tests.adapters.web.watching import (
    ADMIN_TOKEN,
    Watched,
    append,
    begin_run,
    watching,
)
from tests.schema import add_sqlite_file

VIEWERS = 200
EVENTS = 40
_EVERY_S = 0.25
_MARK = "bench step "
_READY = "all watch"
_PATIENCE_S = 60.0


def measure() -> Iterator[Metric]:
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        file = Path(folder, "bench.db")
        add_sqlite_file(file)
        with (
            closing(Database(f"sqlite:///{file}")) as database,
            watching(database) as site,
        ):
            job_id, _ = begin_run(site.world)
            lags_s = _lags_s(site, job_id)
    what = f"{VIEWERS} browsers on one run, begin of append to seen"
    yield Metric(what, p50_p95(lags_s), f"{len(lags_s):,} of {VIEWERS * EVENTS:,} seen")


def _lags_s(site: Watched, job_id: JobId) -> list[float]:
    url = f"{site.page(job_id)}/live"
    program = [sys.executable, "-m", "bench.viewers", url, str(VIEWERS)]
    sent: dict[int, float] = {}
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as watchers:
        if watchers.stdout is None or watchers.stdout.readline().strip() != _READY:
            raise RuntimeError("not all watch")
        for number in range(EVENTS):
            sent[number] = CLOCK.monotonic()
            append(site.world, job_id, ModelReply(model="m", text=f"{_MARK}{number};"))
            CLOCK.sleep(_EVERY_S)
        lines = watchers.stdout.read().splitlines()
    seen = [(int(number), float(at)) for number, at in map(str.split, lines)]
    return [at - sent[number] for number, at in seen]


async def _watch(url: str, count: int) -> None:
    """Print when each of them has seen each step, by the clock of this machine."""
    ready = [asyncio.Event() for _ in range(count)]
    watching_all = [asyncio.create_task(_watch_once(url, one)) for one in ready]
    for one in ready:
        await asyncio.wait_for(one.wait(), _PATIENCE_S)
    sys.stdout.write(f"{_READY}\n")
    sys.stdout.flush()
    for seen in await asyncio.gather(*watching_all):
        sys.stdout.writelines(f"{number} {at}\n" for number, at in seen)


async def _watch_once(url: str, ready: asyncio.Event) -> list[tuple[int, float]]:
    """Read the stream as it comes: an HTTP client would be slower than the service."""
    seen: list[tuple[int, float]] = []
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    request = (
        f"GET {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\n"
        f"Authorization: Bearer {ADMIN_TOKEN}\r\n\r\n"
    )
    writer.write(request.encode())
    while len(seen) < EVENTS:
        line = (await reader.readline()).decode()
        if line.startswith("event: head"):
            ready.set()
        if _MARK in line:
            number = line.partition(_MARK)[2].partition(";")[0]
            seen.append((int(number), CLOCK.monotonic()))
    writer.close()
    return seen


if __name__ == "__main__":
    asyncio.run(_watch(sys.argv[1], int(sys.argv[2])))
