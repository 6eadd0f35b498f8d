"""How a specification becomes a command line and a container."""

from datetime import UTC, datetime

import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.action_server.protocol import read_config
from patchwright.sandbox.docker.container import describe_host, has_expired, label
from patchwright.sandbox.host.bootstrap import (
    command_line,
    confined_by_engine,
    confined_by_limits,
    read_size,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SPEC = SandboxSpec(run_id="r", memory="1g", lifetime_s=600, environment={"A": "b"})


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 512 << 20),
        ("2g", 2 << 30),
        ("1.5G", 3 << 29),
        ("4096", 4096),
        ("1 GiB", 1 << 30),
        ("64kb", 64 << 10),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1g", "1x"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(SandboxError, match="not a size"):
        read_size(text)


def test_the_configuration_reaches_the_server_whole() -> None:
    config = confined_by_limits(SPEC, "/workspace")
    words = command_line("python3", "server.pyz", config)
    assert words[0] == "python3"
    assert read_config(words[-1]) == config


def test_an_engine_limits_memory_and_processes_itself() -> None:
    by_engine = confined_by_engine(SPEC, "/workspace")
    assert (by_engine.max_data_bytes, by_engine.max_processes) == (0, 0)
    by_limits = confined_by_limits(SPEC, "/workspace")
    assert (by_limits.max_data_bytes, by_limits.max_processes) == (1 << 30, 512)


def test_labels_say_when_a_container_is_over() -> None:
    labels = label(SPEC, NOW)
    assert labels["patchwright.run"] == "r"
    assert not has_expired(labels, NOW)
    assert has_expired(labels, datetime(2030, 1, 1, 0, 20, tzinfo=UTC))


@pytest.mark.parametrize("at", ["", "soon", "2030-01-01T00:00:00"])
def test_a_container_without_a_readable_end_is_over(at: str) -> None:
    assert has_expired({"patchwright.expires-at": at}, NOW)
    assert has_expired({}, NOW)


def test_a_container_has_no_network_whatever_is_open_and_the_runtime_asked_for() -> (
    None
):
    open_spec = SPEC.replace(network=True, engine_runtime="runsc")
    host = describe_host(open_spec, "1.41")
    assert (host["NetworkMode"], host["Runtime"]) == ("none", "runsc")
    assert describe_host(SPEC, "1.41")["NetworkMode"] == "none"
