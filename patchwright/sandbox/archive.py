"""Pack the action server into one file that any Python can run."""

import io
import zipfile
from functools import cache
from importlib.resources import files

PACKAGE = "patchwright.sandbox.action_server"
PROGRAMS = "patchwright.sandbox.inside"
START = f"from {PACKAGE}.main import main\n\nmain()\n"
# A fixed date: the same sources give the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


@cache
def pack_action_server() -> bytes:
    """Return a zip application; the modules keep their names inside it.

    https://docs.python.org/3/library/zipapp.html
    """
    contents = {"__main__.py": START.encode()}
    for parent in ("patchwright", "patchwright/sandbox"):
        contents[f"{parent}/__init__.py"] = b""
    for package in (PACKAGE, PROGRAMS):
        folder = package.replace(".", "/")
        for source in files(package).iterdir():
            if source.name.endswith(".py"):
                contents[f"{folder}/{source.name}"] = source.read_bytes()
    packed = io.BytesIO()
    # Stored, not deflated: small Python builds come without zlib.
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name, DATE), contents[name])
    return packed.getvalue()
