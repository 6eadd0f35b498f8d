"""Pack what runs in containers into files that any Python can run."""

import io
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

PACKAGE = "patchwright.sandbox.action_server"
PROGRAMS = "patchwright.sandbox.inside"
PROXY = "patchwright.sandbox.egress.proxy"
# A fixed date: the same sources give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


@cache
def pack_action_server() -> bytes:
    return _pack(PACKAGE, PROGRAMS)


@cache
def pack_proxy() -> bytes:
    return _pack(PROXY)


def _pack(started: str, *others: str) -> bytes:
    """Return a zip application; the modules keep their names inside it.

    https://docs.python.org/3/library/zipapp.html
    """
    start = f"from {started}.main import main\n\nmain()\n"
    contents = {"__main__.py": start.encode()}
    for package in (started, *others):
        folder = package.replace(".", "/")
        for parent in PurePosixPath(folder).parents:
            contents[f"{parent}/__init__.py"] = b""
        for source in files(package).iterdir():
            if source.name.endswith(".py"):
                contents[f"{folder}/{source.name}"] = source.read_bytes()
    packed = io.BytesIO()
    # Stored, not deflated: small Python builds come without zlib.
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name, DATE), contents[name])
    return packed.getvalue()
