"""Fetch releases and tools from npm's registry, without running anything of theirs."""

import base64
import hashlib
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.real.projects import Release

CACHE = Path(__file__).parents[2] / ".cache" / "npm"
# What the tools need is taken as it was on this day.
_DAY = "2025-06-01"


def read_release(release: Release) -> dict[str, bytes]:
    """Return the files of a release by their paths."""
    archive = CACHE / f"{release.name}-{release.version}.tgz"
    with machine_lock("npm"):
        if not archive.exists():
            _npm("pack", "--silent", "--pack-destination", str(CACHE), str(release))
    digest = hashlib.sha512(archive.read_bytes()).digest()
    if f"sha512-{base64.b64encode(digest).decode()}" != release.integrity:
        raise ProvisionError(f"{archive} is not the archive that was chosen")
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in filter(tarfile.TarInfo.isreg, tar):
            content = tar.extractfile(member)
            assert content is not None
            files[member.name.partition("/")[2]] = content.read()
    return files


def pack_tools(tools: Sequence[str]) -> bytes:
    """Return an archive of the `node_modules` that have these packages."""
    # By its own name npm would take the folder for the package.
    folder = CACHE / "-".join(("tools", *tools)).replace("/", "+").replace("@", "-")
    archive = folder / "node_modules.tar"
    with machine_lock("npm"):
        if not archive.exists():
            folder.mkdir(parents=True, exist_ok=True)
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
            _npm(
                "install", *options, f"--before={_DAY}", "--prefix", str(folder), *tools
            )
            with tarfile.open(archive, "w") as tar:
                tar.add(folder / "node_modules", "node_modules")
    return archive.read_bytes()


def _npm(*arguments: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(
        ["npm", *arguments], capture_output=True, text=True, check=False, cwd=CACHE
    )
    if ended.returncode != 0:
        raise ProvisionError(f"npm {arguments[0]} failed:\n{ended.stderr}")
