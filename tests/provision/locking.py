"""Let one process of this machine at a time prepare a shared thing."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def machine_lock(name: str) -> Iterator[None]:
    """Hold the lock of that name; the kernel frees it when the holder dies."""
    path = Path(tempfile.gettempdir(), f"patchwright-tests-{name}.lock")
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
