"""The images: what is in them, and what is not."""

import json
from importlib.metadata import version

import pytest

from tests.deploy.docker_cli import docker
from tests.deploy.images import Images

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(600)]

UNWANTED = ("gcc", "cc", "g++", "make", "pip", "pip3")


def test_the_service_runs_without_rights_network_or_a_place_to_write(
    images: Images,
) -> None:
    confined = ["--rm", "--network", "none", "--read-only", "--cap-drop", "ALL"]
    said = docker("run", *confined, images.service, "serve", "--help")
    assert "webhooks in, pull requests out" in said


def test_nothing_to_build_with_is_in_the_service(images: Images) -> None:
    looking = " ".join(f"command -v {name};" for name in UNWANTED)
    shell = ["--entrypoint", "sh", images.service, "-c", f"{looking} true"]
    assert docker("run", "--rm", "--network", "none", *shell) == ""


def test_everything_is_compiled_as_nobody_may_write_it_later(images: Images) -> None:
    look = "ls /opt/patchwright/lib/python3*/site-packages/patchwright/__pycache__"
    shell = ["--entrypoint", "sh", images.service, "-c", look]
    assert "__init__.cpython-" in docker("run", "--rm", *shell)


@pytest.mark.parametrize("name", ["service", "sandbox", "proxy"])
def test_images_tell_their_version_and_run_as_nobody_special(
    images: Images, name: str
) -> None:
    [found] = json.loads(docker("image", "inspect", getattr(images, name)))
    labels = found["Config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == version("patchwright")
    assert found["Config"]["User"].partition(":")[0] not in {"", "0", "root"}


def test_the_sandbox_has_what_repositories_take_to_be_tested(images: Images) -> None:
    tools = "git curl rg patch unzip python3 ps"
    look = f"for tool in {tools}; do command -v $tool || exit 1; done"
    docker("run", "--rm", "--network", "none", images.sandbox, "sh", "-c", look)
