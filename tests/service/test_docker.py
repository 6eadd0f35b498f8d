"""The containers of a service that is stopped or killed in the middle of a run."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from sqlalchemy import select

from patchwright.sandbox.docker.container import RUN_LABEL
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from tests.fakes.llm import call, hang
from tests.flow.story import fix_turns
from tests.service.stage import SHORT_LEASE, Stage, staged

PROMPT_S = 8.0
pytestmark = pytest.mark.usefixtures("docker_engine")


@pytest.fixture
def settings(sandbox_image: str) -> dict[str, str]:
    return {
        "PATCHWRIGHT_SANDBOX__KIND": "docker",
        "PATCHWRIGHT_SANDBOX__IMAGE": sandbox_image,
    }


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    with closing(docker.from_env()) as client:
        yield client


def test_sigterm_removes_the_container_in_the_middle_of_a_command(
    tmp_path: Path, settings: dict[str, str], engine: docker.DockerClient
) -> None:
    turns = [call("shell", command="sleep 613.5")]
    with staged(tmp_path, turns, settings) as stage, stage.serving("all") as service:
        service.wait_until_ready()
        stage.ask(service)
        stage.models_turn(1)
        [container] = _containers(stage, engine)
        stage.wait(lambda: "sleep 613.5" in _top(container, engine), "the command")
        assert service.stop() < PROMPT_S
        assert _containers(stage, engine) == []


def test_the_process_after_a_killed_one_removes_its_container_and_finishes_the_job(
    tmp_path: Path, settings: dict[str, str], engine: docker.DockerClient
) -> None:
    with staged(tmp_path, [hang(), *fix_turns()], settings | SHORT_LEASE) as stage:
        with stage.serving("all") as service:
            service.wait_until_ready()
            number = stage.ask(service)
            stage.models_turn(1)
            assert len(_containers(stage, engine)) == 1
            service.kill()
        with stage.serving("all"):
            assert not stage.finish(number).draft
        assert _containers(stage, engine) == []
        assert stage.nothing_is_left()


def _containers(stage: Stage, engine: docker.DockerClient) -> list[str]:
    """Return the containers of the only job, running or not."""
    path = Path(stage.environment["PATCHWRIGHT_STATE_DIR"], "patchwright.db")
    database = Database(f"sqlite:///{path}")
    with closing(database), database.reading() as connection:
        job_id: str = connection.scalars(select(jobs.c.id)).one()
    label = f"{RUN_LABEL}={job_id}"
    found = engine.api.containers(all=True, filters={"label": label})
    return [container["Id"] for container in found]


def _top(container: str, engine: docker.DockerClient) -> str:
    """Return the commands that run in a container, a line each."""
    rows = engine.api.top(container, "-eo pid,args")["Processes"]
    return "\n".join(" ".join(row) for row in rows)
