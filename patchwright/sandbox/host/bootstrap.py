"""Pack the programs of a sandbox into files, and say how its server is started."""

import io
import marshal
import re
import zipfile
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import PurePosixPath

from patchwright.core.runtime import SandboxSpec
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.action_server.protocol import Config

# Debian with Python, git and a compiler; any image with Python 3.8 and git will do.
DEFAULT_IMAGE = "python:3.12-bookworm"


UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# Isolated from the user's packages and variables, without site: half the start-up time.
PYTHON_OPTIONS = ("-I", "-S", "-X", "utf8")


def read_size(text: str) -> int:
    """Return the bytes in a size such as `512m` or `2g`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise SandboxError(f"{text!r} is not a size; write it like 512m or 4g")
    return int(float(found.group(1)) * UNITS[found.group(2)])


def confined_by_engine(spec: SandboxSpec, workspace: str) -> Config:
    """Configure a server whose container limits memory and processes."""
    return Config(
        workspace=workspace,
        command_timeout_s=spec.command_timeout_s,
        lifetime_s=spec.lifetime_s,
        environment=dict(spec.environment),
        memory_bytes=read_size(spec.memory),
        disk_bytes=read_size(spec.disk),
    )


def confined_by_limits(spec: SandboxSpec, workspace: str) -> Config:
    """Configure a server that has to limit its shells itself."""
    return confined_by_engine(spec, workspace)._replace(
        max_data_bytes=read_size(spec.memory), max_processes=spec.max_processes
    )


def command_line(python: str, archive: str, config: Config) -> list[str]:
    return [python, *PYTHON_OPTIONS, archive, config.to_json()]


ACTION_SERVER_PACKAGE = "patchwright.sandbox.action_server"
INSIDE_PACKAGE = "patchwright.sandbox.inside"
TRANSFER_MODULES = (
    "__init__.py",
    "git_commands.py",
    "left_out_files.py",
    "stray_work.py",
    "transfer.py",
)
SNAPSHOT_MODULES = ("__init__.py", "git_commands.py", "set_up_snapshot.py")
PROXY_PACKAGE = "patchwright.sandbox.egress"
# A fixed date: the same sources give the same bytes.
ARCHIVE_DATE = (1980, 1, 1, 0, 0, 0)
_MAIN = "__main__.py"


@cache
def pack_action_server() -> bytes:
    return _pack(f"{ACTION_SERVER_PACKAGE}.server", INSIDE_PACKAGE)


@cache
def pack_proxy() -> bytes:
    return _pack(f"{PROXY_PACKAGE}.proxy")


@cache
def pack_transfer_program() -> bytes:
    """Pack what carries commits in and out, and nothing that it does not need."""
    return _write(
        _modules(INSIDE_PACKAGE, TRANSFER_MODULES)
        | _main_module(f"{INSIDE_PACKAGE}.transfer")
    )


@cache
def pack_snapshot_program() -> bytes:
    """Pack what carries the files of a set-up from one sandbox to another."""
    return _write(
        _modules(INSIDE_PACKAGE, SNAPSHOT_MODULES)
        | _main_module(f"{INSIDE_PACKAGE}.set_up_snapshot")
    )


def _pack(started: str, *others: str) -> bytes:
    """Return a zip application that starts a module; all keep their names inside it.

    https://docs.python.org/3/library/zipapp.html
    """
    contents = _main_module(started)
    for package in (started.rpartition(".")[0], *others):
        contents |= _modules(package)
    return _write(contents)


def _main_module(module: str) -> dict[str, bytes]:
    return {_MAIN: f"from {module} import main\n\nmain()\n".encode()}


def _modules(package: str, names: Collection[str] = ()) -> dict[str, bytes]:
    """Return the modules of a package, or those of these names."""
    folder = package.replace(".", "/")
    parents = {f"{one}/__init__.py": b"" for one in PurePosixPath(folder).parents}
    return parents | {
        f"{folder}/{source.name}": source.read_bytes()
        for source in files(package).iterdir()
        if source.name.endswith(".py") and (not names or source.name in names)
    }


def _write(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    # Stored, not deflated: small Python builds come without zlib.
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name, ARCHIVE_DATE), contents[name])
            if contents[name] and name != _MAIN:
                compiled = zipfile.ZipInfo(f"{name}c", ARCHIVE_DATE)
                archive.writestr(compiled, _compile(contents[name], name))
    return packed.getvalue()


def _compile(source: bytes, name: str) -> bytes:
    """Return the module's bytecode, which halves the start of a sandbox's server.

    A Python of another version passes over it and takes the source beside it.
    https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation
    """
    code = marshal.dumps(compile(source, name, "exec", dont_inherit=True))
    unchecked = (0b01).to_bytes(4, "little")
    return MAGIC_NUMBER + unchecked + source_hash(source) + code
