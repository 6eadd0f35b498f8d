"""The containers of a service that is stopped or killed in the middle of a run."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from sqlalchemy import select

from patchwright.sandbox.docker.container import RUN_LABEL
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from tests.fakes.llm.turns import call, hang
from tests.flow.story import REPO, fix_turns
from tests.service.stage import SHORT_LEASE, Stage, staged

PROMPT_S = 8.0
pytestmark = [pytest.mark.usefixtures("docker_engine"), pytest.mark.long]


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


def test_a_command_goes_on_while_its_process_is_replaced(
    tmp_path: Path, settings: dict[str, str], engine: docker.DockerClient
) -> None:
    wait = "until [ -e go ]; do sleep 0.21; done"
    once = call("shell", command=f"echo once >> counter; {wait}; rm go")
    done = call("finish", summary="Counted.", title="Count")
    with staged(tmp_path, [once, done], settings) as stage:
        with stage.serving("all") as service:
            service.wait_until_ready()
            number = stage.ask(service)
            stage.models_turn(1)
            [container] = _containers(stage, engine)
            stage.wait(lambda: "sleep 0.21" in _top(container, engine), "it")
            assert service.stop() < PROMPT_S
        assert _containers(stage, engine) == [container]
        with stage.serving("all"):
            _touch(container, "/workspace/repo/go", engine)
            pull = stage.finish(number)
        assert stage.provider.requests[1]["messages"][-1]["role"] == "tool"
        assert len(stage.provider.requests) == 3
        assert _show(stage, f"{pull.head_branch}:counter") == "once\n"
        assert _containers(stage, engine) == []
        assert stage.nothing_is_left()


def test_the_process_after_a_killed_one_goes_on_in_its_container(
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


def _touch(container: str, path: str, engine: docker.DockerClient) -> None:
    made = engine.api.exec_create(container, ["touch", path])
    engine.api.exec_start(made["Id"])


def _show(stage: Stage, name: str) -> str:
    folder = stage.github.git_folder(REPO)
    command = ["git", "-C", str(folder), "show", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _top(container: str, engine: docker.DockerClient) -> str:
    """Return the commands that run in a container, a line each."""
    rows = engine.api.top(container, "-eo pid,args")["Processes"]
    return "\n".join(" ".join(row) for row in rows)
