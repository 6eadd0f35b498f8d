"""The fixtures hand out real services that answer, each test its own database."""

from contextlib import closing
from pathlib import Path

import docker
import psycopg
import pytest
import redis

from tests.provision.components import NEEDED
from tests.provision.engine import start_once
from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until


def test_redis_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set("word", "kept")
        assert client.get("word") == b"kept"


@pytest.mark.parametrize("visit", ["first", "second"])
def test_every_test_gets_an_empty_database(postgres_url: str, visit: str) -> None:
    address = postgres_url.replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE visits (name text)")
        connection.execute("INSERT INTO visits VALUES (%s)", [visit])
        rows = connection.execute("SELECT name FROM visits").fetchall()
    assert rows == [(visit,)]


@pytest.mark.usefixtures("docker_engine")
def test_the_sandbox_image_has_git_and_python(sandbox_image: str) -> None:
    command = ["sh", "-c", "git --version && python3 --version"]
    with closing(docker.from_env()) as client:
        output = client.containers.run(
            sandbox_image, command, remove=True, network_mode="none"
        )
    assert output.startswith(b"git version")
    assert b"Python 3" in output


def test_waiting_has_an_end() -> None:
    with pytest.raises(ProvisionError, match="the moon: not within"):
        wait_until(lambda: False, "the moon", timeout_s=0.1)


def test_an_engine_that_cannot_be_started_is_tried_once_in_a_run(
    tmp_path: Path,
) -> None:
    tried: list[str] = []

    def start() -> None:
        tried.append("started")
        raise ProvisionError("dockerd: no such file")

    notes = tmp_path / "failed"
    for _ in range(3):
        with pytest.raises(ProvisionError, match="no such file"):
            start_once(lambda: False, start, notes)
    assert tried == ["started"]
    # Whoever starts it by hand meanwhile goes on.
    start_once(lambda: True, start, notes)
    with pytest.raises(ProvisionError):
        start_once(lambda: False, start, tmp_path / "of another run")
    assert len(tried) == 2


def test_what_signs_commits_is_installed_for_the_tests() -> None:
    packages = {package for one in NEEDED["test"] for package in one.packages}
    assert "openssh-client" in packages
