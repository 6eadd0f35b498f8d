"""Pack what runs in containers into files that any Python can run."""

import io
import zipfile
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

ACTION_SERVER_PACKAGE = "patchwright.sandbox.action_server"
INSIDE_PACKAGE = "patchwright.sandbox.inside"
TRANSFER_MODULES = (
    "__init__.py",
    "carry.py",
    "elsewhere.py",
    "leftovers.py",
    "repository.py",
)
PROXY_PACKAGE = "patchwright.sandbox.egress.proxy"
# A fixed date: the same sources give the same bytes.
ARCHIVE_DATE = (1980, 1, 1, 0, 0, 0)


@cache
def pack_action_server() -> bytes:
    return _pack(ACTION_SERVER_PACKAGE, INSIDE_PACKAGE)


@cache
def pack_proxy() -> bytes:
    return _pack(PROXY_PACKAGE)


@cache
def pack_transfer_program() -> bytes:
    """Pack what carries commits in and out, and nothing that it does not need."""
    return _write(_modules(INSIDE_PACKAGE, TRANSFER_MODULES) | _main_module(f"{INSIDE_PACKAGE}.carry"))


def _pack(started: str, *others: str) -> bytes:
    """Return a zip application; the modules keep their names inside it.

    https://docs.python.org/3/library/zipapp.html
    """
    contents = _main_module(f"{started}.main")
    for package in (started, *others):
        contents |= _modules(package)
    return _write(contents)


def _main_module(module: str) -> dict[str, bytes]:
    return {"__main__.py": f"from {module} import main\n\nmain()\n".encode()}


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
    return packed.getvalue()
