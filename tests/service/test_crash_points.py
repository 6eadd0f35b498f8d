"""The eight points at which a delivery can be cut off, and three ways to cut it.

Before and after each of its writes (push, pull request, final message, call) a worker
is killed, or stands still past its lease and then goes on, or loses the database and
still reaches GitHub. Another worker brings the run to its end. What there is to see is
always the same: one branch, one pull request, one status comment that tells the truth,
one call.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from patchwright.core.types.base import JobId
from patchwright.resolver.job import is_over
from tests.fakes.github.faults import Moment
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request
from tests.flow.story import REPO, Story, telling
from tests.provision.waiting import wait_until
from tests.service.nursery import Nursery, Worker, nursery
from tests.service.relay import Relay, relay

LEASE_S = 2.0
WISH = "@patchwright please note it"
COMMENTS = r"/issues/(\d+/)?comments"
WRITES = {
    "push": ("POST", "/git-receive-pack$", ""),
    "pull request": ("POST", "/pulls$", ""),
    "final message": ("PATCH", COMMENTS, "state=resolved"),
    "call": ("POST", COMMENTS, "patchwright:ping"),
}
POINTS = list(product(WRITES, Moment))
BOUND_S = 60.0


def note(request: Request) -> TurnLike:
    """Answer as a model does that has one thing to write, whichever worker asks."""
    if any(one["role"] == "assistant" for one in request["messages"]):
        return call("finish", title="Note it", summary="Noted.")
    return call("write", path="note.txt", content="Noted.\n")


@dataclass
class Scene:
    """A story, and two workers with a line to the database each."""

    story: Story
    first: Nursery
    second: Nursery
    line: Relay
    stays: threading.Event = field(default_factory=threading.Event)
    worker: Worker | None = None

    def kill(self, moment: Moment) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self.stays.set()
        if moment is Moment.BEFORE:
            raise ConnectionAbortedError("nobody waits for an answer any more")

    def stop(self, moment: Moment) -> None:
        os.kill(self._pid, signal.SIGSTOP)
        self.stays.set()
        if moment is Moment.BEFORE:
            # What the worker has sent arrives when everything else is done.
            self._until_the_end()

    def end_early(self, _moment: Moment) -> None:
        self.line.cut()
        self.stays.set()

    @property
    def _pid(self) -> int:
        assert self.worker is not None
        return self.worker.pid

    def _until_the_end(self) -> None:
        [job_id] = [one.id for one in self.story.jobs()][-1:]
        wait_until(lambda: self.is_over(job_id), "the end of the run", BOUND_S)

    def is_over(self, job_id: JobId) -> bool:
        job = self.story.base.stores.jobs.load(job_id)
        return job is not None and is_over(job)

    def finish(self, job_id: JobId) -> None:
        """Let other workers try to take the job until one has ended it."""

        def tried() -> bool:
            self.second.fork(job_id, 0.0).finish()
            return self.is_over(job_id)

        wait_until(tried, "the end of the run", BOUND_S)


FATES: dict[str, Callable[[Scene, Moment], None]] = {
    "killed": Scene.kill,
    "frozen": Scene.stop,
    "without database": Scene.end_early,
}


@pytest.fixture
def scene(tmp_path: Path, postgres_url: str) -> Iterator[Scene]:
    at = urlsplit(postgres_url)
    assert at.hostname is not None
    assert at.port is not None
    settings = {
        "PATCHWRIGHT_DATABASE__URL": postgres_url,
        "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": f"k1:{'A' * 43}=",
        # So that git pushes, which leaves a process of its own behind.
        "PATCHWRIGHT_GITHUB__COMMIT_SIGNING": "none",
        "PATCHWRIGHT_QUEUE__LEASE_SECONDS": str(LEASE_S),
        "PATCHWRIGHT_LIMITS__RUNS_PER_THREAD_HOUR": "100",
    }
    with ExitStack() as stack:
        story = stack.enter_context(
            telling(tmp_path, note, settings=settings, as_app=False)
        )
        line = stack.enter_context(relay(at.hostname, at.port))
        url = postgres_url.replace(f":{at.port}", f":{line.port}")
        through = {**story.environment, "PATCHWRIGHT_DATABASE__URL": url}
        logs = [tmp_path / name for name in ("first.log", "second.log")]
        first = stack.enter_context(nursery(through, logs[0]))
        second = stack.enter_context(nursery(story.environment, logs[1]))
        yield Scene(story, first, second, line)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fate", FATES)
def test_h3_m12_each_crash_point_of_a_delivery_leaves_one_of_everything(
    scene: Scene, fate: str
) -> None:
    for what, moment in POINTS:
        _cut_and_finish(scene, fate, what, moment)


def _cut_and_finish(scene: Scene, fate: str, what: str, moment: Moment) -> None:
    story, where = scene.story, f"{fate} {moment.value} the {what}"
    method, path, body = WRITES[what]
    scene.stays.clear()
    number = story.ask(WISH, title=where)
    job_id = story.jobs()[-1].id
    story.github.interrupt_next(
        method,
        path,
        lambda: FATES[fate](scene, moment),
        moment=moment,
        body_regex=body,
    )
    scene.worker = scene.first.fork(job_id, 0.0)
    wait_until(scene.stays.is_set, f"the point: {where}", BOUND_S)
    scene.finish(job_id)
    if fate == "frozen":
        os.kill(scene.worker.pid, signal.SIGCONT)
    scene.first.next_ended()
    scene.line.mend()
    story.clock.advance(2 * LEASE_S)
    story.runner.sweep()
    _there_is_one_of_each(story, number, where)


def _there_is_one_of_each(story: Story, number: int, where: str) -> None:
    own = f"patchwright/{number}-"
    assert len([one for one in story.branches() if one.startswith(own)]) == 1, where
    pulls = story.github.pull_requests(REPO)
    [pull] = [one for one in pulls if one.head_branch.startswith(own)]
    [said] = story.replies(number)
    assert f"**Draft, not proven** · #{pull.number}" in said, where
    assert len(story.pings(number)) == 1, where
    story.replies(pull.number)
