"""What the container of a sandbox's proxy is like; pure decisions."""

import io
import tarfile
from datetime import datetime
from typing import Final

from docker.types import HostConfig

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.docker import container

# The volume that a proxy shares with its sandbox, which may not write there.
FOLDER: Final = "/egress"
ARCHIVE: Final = f"{FOLDER}/proxy.pyz"
MEETING: Final = f"{FOLDER}/meeting.sock"
ROLE: Final = "proxy"

_MEMORY: Final = 256 << 20
# Two threads for each of its visits, and its own.
_MAX_THREADS: Final = 256
_CPU_QUOTA: Final = container.CPU_PERIOD_US


def describe_proxy_host(spec: SandboxSpec, version: str) -> HostConfig:
    """Return what a proxy may use: the network, and little else."""
    return HostConfig(
        version=version,
        **container.CONFINED,
        network_mode="bridge",
        mem_limit=_MEMORY,
        memswap_limit=_MEMORY,
        pids_limit=_MAX_THREADS,
        cpu_quota=_CPU_QUOTA,
        runtime=spec.engine_runtime or None,
    )


def proxy_labels(spec: SandboxSpec, now: datetime) -> dict[str, str]:
    return container.label(spec, now) | {container.ROLE_LABEL: ROLE}


def pack_proxy_folder(archive: bytes) -> bytes:
    """Return the tar that fills the new volume: nobody but our user looks into it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        container.add_folder(tar, f"..{FOLDER}", container.USER, 0o700)
        container.add_program(tar, "proxy.pyz", archive)
    return packed.getvalue()
