"""Whoever watches a run's page is told what happens, and holds no thread."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.types.base import JobId
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.web.watching import Watched, append, begin_run, end_run, watching
from tests.unit.resolver.endings import proven

PULL = DeliveryResult(branch="fix", pull_request=12)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Watched]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with watching(database) as running:
            yield running


@pytest.fixture
def job_id(site: Watched) -> JobId:
    job_id, lease = begin_run(site.world)
    end_run(site.world, lease, proven(), PULL)
    return job_id


def follow(site: Watched, job_id: JobId, after: int = 0) -> Iterator[tuple[str, str]]:
    """Yield what a browser is told: the name of each message, and its text."""
    url = f"{site.page(job_id)}/live?after={after}"
    with httpx.stream("GET", url, headers=site.as_admin, timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field in ("data", "id"):
                yield (name if field == "data" else "id"), value


def test_what_happens_meanwhile_is_told(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    told = follow(site, job_id, after=11)
    assert next(told)[0] == "head"
    append(site.world, job_id, RunCommand(command="make <all>"))
    found = [value for name, value in told_until(told, "id") if name == "part"]
    assert any("make &lt;all&gt;" in line for line in found)
    end_run(site.world, lease, proven(), PULL)
    rest = list(told)
    assert [value for name, value in rest if name == "id"] == ["13"]
    assert rest[-1][0] == "end"
    assert any("<strong>Done, proven</strong>" in value for name, value in rest)


def told_until(told: Iterator[tuple[str, str]], last: str) -> Iterator[tuple[str, str]]:
    for name, value in told:
        yield name, value
        if name == last:
            return


def test_who_comes_again_misses_nothing_and_sees_nothing_twice(
    site: Watched, job_id: JobId
) -> None:
    headers = {**site.as_admin, "Last-Event-ID": "9"}
    live = httpx.get(f"{site.page(job_id)}/live?after=2", headers=headers)
    ids = [line for line in live.text.splitlines() if line.startswith("id: ")]
    # The step to which 10 and 11 belong is sent once, as a whole.
    assert ids == ["id: 11", "id: 12"]
    assert live.text.count("event: part") == 2
    assert "The pieces are ignored." in live.text
    assert 'id="e9" class="step"' in live.text


def test_a_stream_ends_by_itself_after_a_while(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    told = follow(site, job_id, after=11)
    next(told)
    site.world.clock.advance(61)
    assert [name for name, _ in told if name == "end"] == []


def test_so_many_may_watch_and_no_more(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    site.pages.live.most_viewers = 1
    told = follow(site, job_id)
    next(told)
    full = httpx.get(f"{site.page(job_id)}/live", headers=site.as_admin)
    assert full.status_code == 503
    site.world.clock.advance(61)
    list(told)


def test_what_was_logged_is_no_message_of_its_own(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    told = follow(site, job_id, after=11)
    assert next(told)[0] == "head"
    forged = "\r\revent: end\rdata: over\r\r"
    append(site.world, job_id, RunCommand(command=f"true\n{forged}\nfalse"))
    found = list(told_until(told, "id"))
    assert "end" not in {name for name, _ in found}
    assert any("event: end" in value for _, value in found)
