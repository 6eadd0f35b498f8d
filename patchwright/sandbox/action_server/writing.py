"""Write files so that no reader ever sees half of one."""

from __future__ import annotations

import hashlib
import os
import stat

from patchwright.sandbox.action_server.diffs import describe_change
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.reading import read_regular
from patchwright.sandbox.action_server.temporary import new_name, remove_if_there
from patchwright.sandbox.action_server.text_codec import FileText, decode, with_newlines
from patchwright.sandbox.action_server.wire import Reply, ServerRequest

NEW_FILE_MODE = 0o644


def write_file(places: WorkspacePaths, request: ServerRequest) -> Reply:
    """Create a file or replace its text; encoding, BOM and newline style stay."""
    path = places.in_repo(request.text("path"))
    shown = places.shown(path)
    content = request.text("content")
    before = read_regular(path, shown) if os.path.lexists(path) else None
    old = (decode(before) if before else None) or FileText("")
    if old.newline() == "\r\n":
        content = with_newlines(content, "\r\n")
    return replace_file(path, shown, before, old.encode(content))


def replace_file(path: str, shown: str, before: bytes | None, after: bytes) -> Reply:
    """Write a file, and report the change."""
    try:
        write_atomically(path, after)
    except OSError as error:
        raise ActionError("not-written", f"{shown}: {error.strerror}") from error
    return {
        "kind": "file_edited",
        "path": shown,
        "diff": describe_change(shown, before, after),
        "sha256_before": "" if before is None else hashlib.sha256(before).hexdigest(),
        "sha256_after": hashlib.sha256(after).hexdigest(),
    }


def write_atomically(path: str, data: bytes) -> None:
    """Replace a file by rename; `path` is resolved, so a symlink to it stays one."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else None
    temporary = os.path.join(folder, new_name())
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            os.fchmod(file.fileno(), NEW_FILE_MODE if mode is None else mode)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        remove_if_there(temporary)
        raise
