"""Fetch a published server of the Model Context Protocol, as it is on PyPI."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock

CACHE = Path(__file__).parents[2] / ".cache" / "mcp-server-time"
# Name, version and hashes of each package: what is fetched is what was chosen.
REQUIREMENTS = Path(__file__).with_name("mcp_server_time.txt")
ITSELF = f"{sys.version_info.major}.{sys.version_info.minor}"


def fetch_wheels(python: str = ITSELF) -> Path:
    """Return a folder with the wheels for this version of Python, such as `3.11`."""
    chosen = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    folder = CACHE / f"{python}-{chosen}"
    with machine_lock("wheels"):
        if not folder.is_dir():
            _fetch(folder, python)
    return folder


def unpack_wheels(folder: Path) -> None:
    """Put the packages into `folder`, as they are installed."""
    for wheel in sorted(fetch_wheels().glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def _fetch(folder: Path, python: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Under its name only when it is whole.
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        wheels = Path(unfinished, "wheels")
        _download(wheels, python)
        wheels.rename(folder)


def _download(folder: Path, python: str) -> None:
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    argv += ["--require-hashes", "--only-binary=:all:", "--python-version", python]
    argv += ["--dest", str(folder), "--requirement", str(REQUIREMENTS)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ProvisionError(f"{REQUIREMENTS.name} cannot be fetched:\n{ended.stderr}")
