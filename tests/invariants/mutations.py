"""Changes to a work tree, carried out alike here and in a sandbox.

This file, run with a folder, reads a JSON list of changes on standard input; it needs
nothing but the standard library. Names and contents are base64, since they are bytes.
"""

import base64
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any


def apply(folder: Path, changes: list[list[Any]]) -> None:
    """Carry out the changes, in order; one that cannot be is passed over."""
    for kind, name, *rest in changes:
        path = folder / decoded(name)
        if kind == "write":
            write(path, *rest)
        elif kind == "append" and is_file(path):
            with path.open("ab") as file:
                file.write(base64.b64decode(rest[0]))
        elif kind == "rename":
            rename(path, folder / decoded(rest[0]))
        elif kind == "chmod" and is_file(path):
            path.chmod(0o755 if rest[0] else 0o644)
        elif kind == "link":
            make_room(path)
            path.symlink_to(decoded(rest[0]))
        elif kind == "delete":
            delete(path)


def decoded(name: str) -> str:
    return os.fsdecode(base64.b64decode(name))


def is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def write(path: Path, content: str) -> None:
    make_room(path)
    path.write_bytes(base64.b64decode(content))


def rename(path: Path, target: Path) -> None:
    inside = path == target or path in target.parents or target in path.parents
    if os.path.lexists(path) and not inside:
        make_room(target)
        path.rename(target)


def delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def make_room(path: Path) -> None:
    """Remove what is there, and whatever is no folder on the way there."""
    delete(path)
    if not path.parent.is_dir() or path.parent.is_symlink():
        delete(path.parent)
    path.parent.mkdir(exist_ok=True)


if __name__ == "__main__":
    apply(Path(sys.argv[1]), json.load(sys.stdin))
