"""Web, workers and beat as processes of their own, on PostgreSQL and Redis."""

import base64
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import select

from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from tests.fakes.llm.turns import TurnLike, hang
from tests.flow.story import REPO, fix_turns
from tests.service.stage import SHORT_LEASE, staged

pytestmark = pytest.mark.long

PROMPT_S = 8.0
KEYS = f"k1:{base64.b64encode(bytes(range(32))).decode()}"


@pytest.fixture
def broker(redis_url: str) -> str:
    """Return the URL of a Redis that nothing is left in of other tests."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url


@pytest.fixture
def shared(broker: str, postgres_url: str) -> dict[str, str]:
    """Return the settings that processes of one service have in common."""
    return {
        "PATCHWRIGHT_DATABASE__URL": postgres_url,
        "PATCHWRIGHT_QUEUE__BROKER_URL": broker,
        "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": KEYS,
        "PATCHWRIGHT_LIMITS__MAX_PARALLEL": "1",
    }


def test_the_job_of_a_worker_killed_in_mid_run_is_finished_by_another(
    tmp_path: Path, shared: dict[str, str]
) -> None:
    with (
        staged(tmp_path, [hang(), *fix_turns()], shared | SHORT_LEASE) as stage,
        stage.serving("web") as web,
        stage.serving("worker") as one,
        stage.serving("worker") as other,
        stage.serving("scheduler"),
    ):
        web.wait_until_ready()
        number = stage.ask(web)
        stage.models_turn(1)
        [job] = _jobs(shared)
        killed = next(one for one in (one, other) if job.worker.endswith(f":{one.pid}"))
        children = killed.descendants()
        assert children
        killed.kill()
        pull = stage.finish(number)
        assert not pull.draft
        assert [child for child in children if child.is_alive] == []
        stage.wait(stage.nothing_is_left, "an empty temporary folder")
        stage.wait(lambda: _jobs(shared)[0].ended_at is not None, "the end")
        [job] = _jobs(shared)
        assert job.attempts == 2
        assert not job.worker.endswith(f":{killed.pid}")


def test_a_redis_that_forgets_everything_loses_no_job(
    tmp_path: Path, shared: dict[str, str]
) -> None:
    may_go_on = threading.Event()
    turns = iter(3 * fix_turns())

    def play(_request: dict[str, Any]) -> TurnLike:
        may_go_on.wait()
        return next(turns)

    with (
        staged(tmp_path, play, shared) as stage,
        stage.serving("web") as web,
        stage.serving("worker") as worker,
        stage.serving("scheduler") as beat,
    ):
        web.wait_until_ready()
        first = stage.ask(web, title="Wrong sum")
        stage.models_turn(1)
        second = stage.ask(web, title="Still a wrong sum")
        _flush(shared)
        third = stage.ask(web, title="The sum is wrong")
        may_go_on.set()
        for number in (first, second, third):
            stage.wait_for_end(number)
        assert len(stage.github.pull_requests(REPO)) == 3
        assert all(one.stop() < PROMPT_S for one in (web, worker, beat))


def _flush(shared: dict[str, str]) -> None:
    with redis.Redis.from_url(shared["PATCHWRIGHT_QUEUE__BROKER_URL"]) as client:
        client.flushall()


def _jobs(shared: dict[str, str]) -> list[Any]:
    url = shared["PATCHWRIGHT_DATABASE__URL"]
    with closing(Database(url)) as database, database.reading() as connection:
        return list(connection.execute(select(jobs).order_by(jobs.c.created_at)))
