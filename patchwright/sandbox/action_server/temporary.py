"""Names for files that are there for a moment; `tempfile` is slow to import."""

from __future__ import annotations

import os


def new_name() -> str:
    return f".patchwright-{os.urandom(8).hex()}"


def remove_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
