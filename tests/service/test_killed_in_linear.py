"""A worker killed over a request in Linear: another one ends it, told once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fakes.github.faults import Moment
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.linear import LinearOffice, in_linear
from tests.flow.script import Request
from tests.flow.story import REPO
from tests.provision.waiting import wait_until
from tests.service.nursery import Nursery, Worker, nursery

pytestmark = pytest.mark.long

# Past the end of a lease that was renewed just before.
AHEAD_S = 150.0
BOUND_S = 60.0


@dataclass
class Scene:
    """A story in Linear, and where workers come from."""

    linear: LinearOffice
    workers: Nursery
    worker: Worker | None = None
    killed: threading.Event = field(default_factory=threading.Event)

    def kill(self) -> None:
        if self.worker is not None and not self.killed.is_set():
            os.kill(self.worker.pid, signal.SIGKILL)
            self.killed.set()


def in_mid_run(scene: Scene) -> Callable[[Request], None]:
    """Kill it when the model is asked; later, its sandbox is lost with its work."""
    return lambda _request: scene.kill()


def over(words: str, moment: Moment) -> Callable[[Scene], Callable[[Request], None]]:
    """Kill it when it writes these words to Linear."""

    def prepare(scene: Scene) -> Callable[[Request], None]:
        scene.linear.fake.interrupt_next(words, scene.kill, moment=moment)
        return lambda _request: None

    return prepare


POINTS = {
    "in mid run": in_mid_run,
    "before the first word": over("Working on it", Moment.BEFORE),
    "after the first word": over("Working on it", Moment.AFTER),
    "before the response": over("Draft, not proven", Moment.BEFORE),
    "after the response": over("Draft, not proven", Moment.AFTER),
}


def _done(request: Request) -> int:
    return sum(one["role"] == "assistant" for one in request["messages"])


@contextmanager
def told(folder: Path) -> Iterator[tuple[Scene, list[Callable[[Request], None]]]]:
    """Set the scene; what is in the list looks at each request to the model."""
    lookers: list[Callable[[Request], None]] = []

    def note(request: Request) -> TurnLike:
        for look in lookers:
            look(request)
        if _done(request) == 0:
            return call("write", path="note.txt", content="Noted.\n")
        return call("finish", title="Note it", summary="Noted.")

    with (
        in_linear(folder, note) as linear,
        nursery(linear.story.environment, folder / "workers.log") as workers,
    ):
        yield Scene(linear, workers), lookers


@pytest.mark.parametrize("point", POINTS)
def test_h3_what_a_killed_worker_began_another_ends_and_tells_once(
    tmp_path: Path, point: str
) -> None:
    with told(tmp_path) as (scene, lookers):
        linear = scene.linear
        key = linear.open()
        linear.fake.comment(key, linear.ann, linear.call("please note it"))
        linear.tell()
        [job] = linear.story.jobs()
        lookers.append(POINTS[point](scene))
        scene.worker = scene.workers.fork(job.id, 0.0)
        wait_until(scene.killed.is_set, point, BOUND_S)
        scene.workers.next_ended()
        scene.workers.fork(job.id, AHEAD_S).finish()
        [pull] = linear.story.github.pull_requests(REPO)
        assert pull.title == f"{key}: Note it"
        assert len(linear.story.branches()) == 1
        [(kind, text)] = linear.said(key)
        assert kind == "response"
        assert text.startswith("**Draft, not proven** · [pull request #1](")
        session = linear.fake.session(key)
        assert session.status == "complete"
        assert [one["label"] for one in session.external_urls] == [
            f"Run {job.id[:8]}",
            f"{REPO}#1",
        ]
        assert {one["status"] for one in session.plan or ()} <= {
            "completed",
            "canceled",
        }
        [link] = linear.fake.attachments(key)
        assert link.url.endswith(f"/{REPO}/pull/1")
        assert linear.fake.been_in(key) == ["In Progress", "In Review"]
        assert len(linear.story.jobs()) == 1
