"""Which kind of sandbox is chosen, and what is said when none works."""

import re
from pathlib import Path

import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.hosts import Domain
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SandboxError, SettingsError
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.factory import create_factory, find_fallback

NO_IMAGE = "patchwright.invalid/no/such:1"
NOWHERE = "unix:///nonexistent/docker.sock"


def test_docker_comes_first_where_an_engine_has_the_image(sandbox_image: str) -> None:
    chosen = create_factory("auto", SystemClock(), sandbox_image)
    assert isinstance(chosen, DockerRuntimes)
    assert find_fallback(chosen) is None
    chosen.close()


@pytest.mark.usefixtures("docker_engine")
def test_an_image_that_cannot_be_pulled_makes_bubblewrap_the_choice() -> None:
    chosen = create_factory("auto", SystemClock(), NO_IMAGE)
    assert chosen.kind == "bubblewrap"
    found = find_fallback(chosen)
    assert found is not None
    assert re.sub(r"\(.+\)", "(WHY)", str(found)) == (
        f"Using bubblewrap: Docker cannot pull the image {NO_IMAGE} (WHY). To use "
        f"Docker, run docker pull {NO_IMAGE}, or set another image in sandbox.image."
    )
    chosen.start(SandboxSpec(run_id="r")).close()


@pytest.mark.usefixtures("docker_engine")
def test_docker_by_name_names_the_image_and_two_ways_on() -> None:
    chosen = create_factory("docker", SystemClock(), NO_IMAGE)
    with pytest.raises(SandboxError) as caught:
        chosen.start(SandboxSpec(run_id="r"))
    assert str(caught.value).startswith(
        f"cannot pull the sandbox image {NO_IMAGE} (set another one in sandbox.image, "
        'or use sandbox.kind = "local", which needs no image): '
    )
    assert isinstance(chosen, DockerRuntimes)
    chosen.close()


def test_bubblewrap_comes_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    assert create_factory("auto", SystemClock()).kind == "bubblewrap"


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("bubblewrap", "bubblewrap"),
        ("local", "bubblewrap"),
        ("unconfined", "unconfined"),
    ],
)
def test_a_kind_can_be_asked_for_by_name(kind: str, chosen: str) -> None:
    assert create_factory(kind, SystemClock()).kind == chosen


def test_docker_by_name_fails_without_an_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    with pytest.raises(SandboxError, match="cannot reach the Docker engine"):
        create_factory("docker", SystemClock())


def test_an_engine_that_answers_nonsense_is_no_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}")
    assert create_factory("auto", SystemClock()).kind == "bubblewrap"


PLUGIN = """
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.local.runtimes import UnconfinedRuntimes


class Elsewhere(UnconfinedRuntimes):
    def __init__(self, clock, image):
        self.kind = f"elsewhere with {image}"


class Careful(Elsewhere):
    keeps_to_domains = True

    def start(self, spec):
        raise SandboxError("it was asked")


nothing = None
"""
ENTRY_POINTS = """
[patchwright.runtimes]
elsewhere = elsewhere_runtimes:Elsewhere
careful = elsewhere_runtimes:Careful
broken = elsewhere_runtimes:nothing
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers a kind of sandbox."""
    (tmp_path / "elsewhere_runtimes.py").write_text(PLUGIN)
    described = tmp_path / "elsewhere-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Name: elsewhere\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugin")
def test_a_plug_in_brings_its_own_kind() -> None:
    chosen = create_factory("elsewhere", SystemClock(), "image:1")
    assert chosen.kind == "elsewhere with image:1"


LISTING = SandboxSpec(run_id="r", domains=(Domain(host="a.example"),))


@pytest.mark.usefixtures("plugin")
def test_a_plug_in_that_does_not_keep_to_a_list_of_hosts_is_not_asked_to() -> None:
    chosen = create_factory("elsewhere", SystemClock())
    with pytest.raises(SandboxError, match="cannot limit the network to a list"):
        chosen.start(LISTING)


@pytest.mark.usefixtures("plugin")
def test_a_plug_in_that_says_it_keeps_to_a_list_is_believed() -> None:
    with pytest.raises(SandboxError, match="it was asked"):
        create_factory("careful", SystemClock()).start(LISTING)


def test_nothing_holds_to_a_list_what_is_not_confined() -> None:
    with pytest.raises(SandboxError, match='"unconfined"; use Docker or bubblewrap'):
        create_factory("unconfined", SystemClock()).start(LISTING)


@pytest.mark.usefixtures("plugin")
def test_a_kind_that_nobody_offers_is_named_with_those_there_are() -> None:
    known = "auto, docker, local, bubblewrap, unconfined, broken, careful, elsewhere"
    with pytest.raises(SettingsError, match=f"no 'nowhere'; there are: {known}"):
        create_factory("nowhere", SystemClock())


@pytest.mark.usefixtures("plugin")
def test_a_plug_in_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(SettingsError, match="'broken' offers cannot be called"):
        create_factory("broken", SystemClock())
