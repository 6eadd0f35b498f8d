"""A worker killed anywhere in a run: the next goes on, and nothing is done twice."""

import random
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.story import REPO, Story, telling
from tests.provision.waiting import wait_until
from tests.service.nursery import Nursery, nursery

STEPS = 30
RUNS = 25
KILLS_PER_RUN = 2
LEASE_S = 60.0
WISH = "@patchwright count to thirty"
COUNTED = "".join(f"{step}\n" for step in range(1, STEPS + 1))
SEED = 20_261_128

pytestmark = [pytest.mark.usefixtures("docker_engine"), pytest.mark.long]


@dataclass
class Counting:
    """A model that counts, and says when it was asked for a step."""

    asked: int = 0

    def __call__(self, request: dict[str, Any]) -> TurnLike:
        done = sum(one["role"] == "assistant" for one in request["messages"])
        self.asked = done + 1
        if done < STEPS:
            return call("shell", command=f"echo {done + 1} >> counter")
        return call("finish", summary="Counted.", title="Count to thirty")


@pytest.fixture
def settings(sandbox_image: str) -> dict[str, str]:
    return {
        "PATCHWRIGHT_SANDBOX__KIND": "docker",
        "PATCHWRIGHT_SANDBOX__IMAGE": sandbox_image,
    }


# Over three minutes alone, and others run beside it.
@pytest.mark.timeout(900)
def test_fifty_kills_leave_no_step_undone_and_none_done_twice(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    chance, model = random.Random(SEED), Counting()
    with _told(tmp_path, model, settings) as (story, workers):
        for _ in range(RUNS):
            model.asked, number = 0, story.ask(WISH)
            job_id = story.jobs()[-1].id
            for attempt in range(KILLS_PER_RUN):
                worker = workers.fork(job_id, attempt * LEASE_S)
                _wait_for_a_point(model, chance)
                worker.kill()
            workers.fork(job_id, KILLS_PER_RUN * LEASE_S).finish()
            _all_is_as_without_kills(story, number)


def _wait_for_a_point(model: Counting, chance: random.Random) -> None:
    """Wait until the run is somewhere, not before where the last worker was."""
    step = chance.randint(model.asked, STEPS + 1)
    wait_until(lambda: model.asked >= step, f"step {step}", 60)
    threading.Event().wait(chance.uniform(0, 0.02))


def _all_is_as_without_kills(story: Story, number: int) -> None:
    job = story.jobs()[-1]
    assert job.outcome is not None
    assert job.outcome.kind is OutcomeKind.RESOLVED, job.outcome
    assert "**Draft, not proven**" in story.reply(number)
    pull = story.github.pull_requests(REPO)[-1]
    assert _show(story, f"{pull.head_branch}:counter") == COUNTED


def _show(story: Story, name: str) -> str:
    folder = story.github.git_folder(REPO)
    command = ["git", "-C", str(folder), "show", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def _told(
    folder: Path, model: Counting, settings: dict[str, str]
) -> Iterator[tuple[Story, Nursery]]:
    with (
        telling(folder, model, settings=settings) as story,
        nursery(story.environment, folder / "workers.log") as workers,
    ):
        yield story, workers
