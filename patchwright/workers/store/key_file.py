"""A key of the service's own, in a file that only its user can read."""

import os
import secrets
import stat
from pathlib import Path
from typing import Final

from patchwright.core.crypto import KEY_BYTES
from patchwright.core.errors import SettingsError

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def load_or_make_key(path: Path) -> bytes:
    """Return the 32 bytes in the file; make it first if it is not there.

    Processes that start at the same time all get the same key.
    """
    if not path.exists():
        _make(path)
    if path.stat().st_mode & _OTHERS:
        raise SettingsError(f"{path} can be read by others; make it mode 600")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{path} is not a key of {KEY_BYTES} bytes")
    return key


def _make(path: Path) -> None:
    written = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(written, _NEW_FILE, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole, and not at all where another process was faster.
        path.hardlink_to(written)
    except FileExistsError:
        return
    finally:
        written.unlink(missing_ok=True)
