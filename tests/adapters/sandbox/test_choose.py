"""Which kind of sandbox is chosen, and what is said when none works."""

from pathlib import Path

import pytest

from patchwright.core.clock import SystemClock
from patchwright.core.errors import SandboxError
from patchwright.sandbox.choose import Kind, choose
from patchwright.sandbox.docker.runtimes import DockerRuntimes

NOWHERE = "unix:///nonexistent/docker.sock"


@pytest.mark.usefixtures("docker_engine")
def test_docker_comes_first_where_an_engine_answers() -> None:
    chosen = choose("auto", SystemClock())
    assert isinstance(chosen, DockerRuntimes)
    chosen.close()


def test_bubblewrap_comes_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    assert choose("auto", SystemClock()).kind == "bubblewrap"


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("bubblewrap", "bubblewrap"),
        ("local", "bubblewrap"),
        ("unconfined", "unconfined"),
    ],
)
def test_a_kind_can_be_asked_for_by_name(kind: Kind, chosen: str) -> None:
    assert choose(kind, SystemClock()).kind == chosen


def test_docker_by_name_fails_without_an_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    with pytest.raises(SandboxError, match="cannot reach the Docker engine"):
        choose("docker", SystemClock())


def test_an_engine_that_answers_nonsense_is_no_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}")
    assert choose("auto", SystemClock()).kind == "bubblewrap"
