"""What a sandbox's container is like; pure decisions."""

import io
import tarfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from docker.types import HostConfig, LogConfig

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.launch import read_size

USER = 1000
WORKSPACE = "/workspace"
ARCHIVE = f"{WORKSPACE}/.patchwright/server.pyz"

RUN_LABEL = "patchwright.run"
ROLE_LABEL = "patchwright.role"
MANAGED_LABEL = "patchwright.managed"
EXPIRES_LABEL = "patchwright.expires-at"
# On a sandbox: the container that is its way out.
PROXY_LABEL = "patchwright.proxy"

# The server ends the sandbox itself; who is older than this has a server that cannot.
GRACE = timedelta(minutes=2)
CPU_PERIOD_US = 100_000

# How each container of ours is cut off, whatever it is for.
CONFINED: Final[Mapping[str, Any]] = {
    "auto_remove": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "read_only": True,
    # An engine with fewer CPUs refuses a number of them, but takes a quota.
    "cpu_period": CPU_PERIOD_US,
    "log_config": LogConfig(type=LogConfig.types.NONE),
}


def describe_host(spec: SandboxSpec, version: str, proxy: str = "") -> HostConfig:
    """Return what a container may use, and how it is cut off from the rest.

    It sees the folder of its `proxy`, if it has one.
    """
    memory = read_size(spec.memory)
    return HostConfig(
        version=version,
        **CONFINED,
        # Its own, with nobody in it: the proxy is the one way out.
        network_mode="none",
        volumes_from=[f"{proxy}:ro"] if proxy else None,
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=spec.max_processes,
        cpu_quota=int(spec.cpus * CPU_PERIOD_US),
        tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={memory // 2}"},  # noqa: S108 - the container's own
        runtime=spec.engine_runtime or None,
    )


def label(spec: SandboxSpec, now: datetime) -> dict[str, str]:
    expires_at = now + timedelta(seconds=spec.lifetime_s) + GRACE
    return {
        MANAGED_LABEL: "1",
        RUN_LABEL: spec.run_id,
        ROLE_LABEL: spec.role,
        EXPIRES_LABEL: expires_at.isoformat(),
    }


def has_expired(labels: Mapping[str, str], now: datetime) -> bool:
    """Tell whether a container's time is over; one without a readable time is."""
    try:
        return datetime.fromisoformat(labels[EXPIRES_LABEL]) <= now
    except (KeyError, ValueError, TypeError):
        return True


def pack_workspace(archive: bytes) -> bytes:
    """Return the tar that fills the new volume at `/workspace`.

    The volume belongs to root, and the sandbox's user may add to it like to /tmp, so
    that the server's file stays what it is.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        # Docker passes over an entry for the folder it unpacks into unless that has a
        # name, and then takes owner and mode from it.
        add_folder(tar, f"..{WORKSPACE}", 0, 0o1777)
        add_folder(tar, ".patchwright", 0, 0o755)
        for name in ("repo", "home", "logs"):
            add_folder(tar, name, USER, 0o755)
        add_program(tar, ".patchwright/server.pyz", archive)
    return packed.getvalue()


def add_program(tar: tarfile.TarFile, name: str, archive: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(archive)
    entry.mode = 0o444
    tar.addfile(entry, io.BytesIO(archive))


def add_folder(tar: tarfile.TarFile, name: str, owner: int, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    entry.uid = entry.gid = owner
    entry.mode = mode
    tar.addfile(entry)
