"""A runner with what the Action needs, as a job finds it that uses the Action again."""

import hashlib
import os
import sys
from pathlib import Path

from tests.architecture.tree import ROOT
from tests.runner.job import Machine

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# By what name the set-up finds Python first.
_NAMES = ("python3.13", "python3")


def make_machine(folder: Path) -> Machine:
    """Return a runner that has our Python and nothing installed."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for name in _NAMES:
        (programs / name).symlink_to(Path(sys.base_prefix, "bin", version))
    return Machine(folder / "runner", os.pathsep.join((str(programs), _SYSTEM)))


def prepare(machine: Machine) -> Path:
    """Install what the set-up would, without a download; return where it is."""
    files = [ROOT / "requirements.lock", ROOT / "pyproject.toml"]
    said = b"".join(file.read_bytes() for file in files)
    said += str(files[0]).encode() + sys.version.encode()
    digest = hashlib.sha256(said).hexdigest()[:16]
    venv = machine.temp / f"patchwright-venv-{digest}"
    venv.mkdir(parents=True)
    for part in Path(sys.prefix).iterdir():
        (venv / part.name).symlink_to(part)
    (venv / ".ready").touch()
    return venv
