"""The check of the sandbox starts a real one."""

from pathlib import Path

import pytest

from patchwright.core.doctor import CheckStatus
from patchwright.core.settings.limits import SandboxSettings
from patchwright.sandbox.docker import container, engine
from patchwright.workers.doctor.sandbox import SandboxProbe, judge_sandbox
from tests.adapters.doctor.cases import case_of, examined

GOOD = SandboxProbe(
    python="3.12.1",
    git="2.43",
    is_root=False,
    has_network=False,
    holds_memory=True,
    holds_processes=True,
)


@pytest.mark.parametrize(
    ("kind", "shown"), [("docker", "docker"), ("local", "bubblewrap")]
)
def test_a_real_sandbox_has_its_tools_and_its_limits_and_is_gone_afterwards(
    tmp_path: Path, sandbox_image: str, kind: str, shown: str
) -> None:
    case = case_of(tmp_path, SANDBOX__KIND=kind, SANDBOX__IMAGE=sandbox_image)
    told = examined("sandbox", case)
    assert told.status is CheckStatus.OK, told
    assert told.found.startswith(shown)
    assert "network `deny` and limits work" in told.found
    # Which of the two holds the memory is said.
    assert ("memory is measured" in told.found) == (shown == "bubblewrap")
    assert ("sandbox.cpus has no effect" in told.found) == (shown == "bubblewrap")
    client = engine.connect()
    left = engine.find(client, container.MANAGED_LABEL)
    client.close()
    runs = [one.labels[container.RUN_LABEL] for one in left]
    assert [run for run in runs if run.startswith("doctor-")] == []


@pytest.mark.usefixtures("docker_engine")
def test_an_image_that_is_not_there_is_told_with_the_command(tmp_path: Path) -> None:
    image = "patchwright.invalid/no/such:1"
    told = examined(
        "sandbox", case_of(tmp_path, SANDBOX__KIND="docker", SANDBOX__IMAGE=image)
    )
    assert told.status is CheckStatus.FAILED
    assert told.found.startswith(f"the engine has no image {image} and cannot pull it ")
    assert told.fix == (
        f"docker pull {image}, or set sandbox.image to an image that is there "
        "(deploy/sandbox.Dockerfile builds one)\n"
        "or set sandbox.kind to local, which needs no image"
    )


@pytest.mark.usefixtures("docker_engine")
def test_a_fallback_to_bubblewrap_is_a_warning(tmp_path: Path) -> None:
    image = "patchwright.invalid/no/such:1"
    told = examined("sandbox", case_of(tmp_path, SANDBOX__IMAGE=image))
    assert told.status is CheckStatus.WARNING
    assert told.found.startswith(f"Docker cannot pull the image {image} (")
    assert told.found.endswith("; bubblewrap is used")
    assert told.fix == f"run docker pull {image}, or set another image in sandbox.image"


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (GOOD.replace(git=""), "no git"),
        (GOOD.replace(is_root=True), "run as root"),
        (GOOD.replace(has_network=True), "the network can be reached"),
        (GOOD.replace(holds_memory=False), "memory limit"),
        (GOOD.replace(holds_processes=False), "process limit"),
    ],
)
def test_each_thing_that_does_not_hold_is_told(trial: SandboxProbe, words: str) -> None:
    told = judge_sandbox(trial, "docker", SandboxSettings())
    assert told.status is CheckStatus.FAILED
    assert words in told.found


def test_an_open_network_is_no_fault_where_it_is_wanted() -> None:
    told = judge_sandbox(
        GOOD.replace(has_network=True),
        "docker",
        SandboxSettings(network="allow"),
    )
    assert told.status is CheckStatus.OK
    assert "network `allow`" in told.found


def test_an_unconfined_sandbox_is_not_tried(tmp_path: Path) -> None:
    told = examined("sandbox", case_of(tmp_path, SANDBOX__KIND="unconfined"))
    assert told.status is CheckStatus.WARNING


def test_a_runtime_that_the_engine_has_not_is_told(
    tmp_path: Path, sandbox_image: str
) -> None:
    case = case_of(
        tmp_path,
        SANDBOX__KIND="docker",
        SANDBOX__IMAGE=sandbox_image,
        SANDBOX__RUNTIME="no-such-runtime",
    )
    told = examined("sandbox", case)
    assert told.status is CheckStatus.FAILED
    assert "sandbox.runtime that `docker info` lists" in told.fix
