"""Show the lines of a file with their numbers, or what a folder holds."""

from __future__ import annotations

import os
import stat

from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.text_codec import decode
from patchwright.sandbox.action_server.wire import Reply, ServerRequest

MAX_FILE_BYTES = 32 << 20
MAX_SHOWN_LINES = 1000
MAX_LINE_CHARACTERS = 2000
MAX_SHOWN_CHARACTERS = 60_000
MAX_ENTRIES = 500


def read_file(places: WorkspacePaths, request: ServerRequest) -> Reply:
    path = places.in_repo(request.text("path"))
    if os.path.isdir(path):
        return _list_folder(places, path)
    content = decode(read_regular(path, places.shown(path)))
    if content is None:
        size = os.path.getsize(path)
        text = f"{places.shown(path)} is a binary file of {size} bytes"
        raise ActionError("binary", text)
    first = max(request.whole("start_line", 1), 1)
    last = request.fields.get("end_line")
    lines = _split_lines(content.text)
    wanted = lines[first - 1 : last if isinstance(last, int) else None]
    return {
        "kind": "file_content",
        "path": places.shown(path),
        "text": _number_lines(wanted, first, len(lines)),
        "first_line": first,
        "total_lines": len(lines),
    }


def read_regular(path: str, shown: str) -> bytes:
    """Read a regular file whole; raise `ActionError` for anything else."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise ActionError("not-found", f"{shown}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise ActionError("not-a-file", f"{shown} is not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        text = f"{shown} has {status.st_size} bytes; look at parts of it in the shell"
        raise ActionError("too-large", text)
    with open(path, "rb") as file:
        return file.read()


def _split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


def _number_lines(lines: list[str], first: int, total: int) -> str:
    shown: list[str] = []
    room = MAX_SHOWN_CHARACTERS
    for number, line in enumerate(lines[:MAX_SHOWN_LINES], first):
        shown.append(f"{number:>6}\t{_truncate_line(line)}")
        room -= len(shown[-1])
        if room < 0:
            break
    rest = len(lines) - len(shown)
    if rest > 0:
        next_line = first + len(shown)
        shown.append(
            f"[... {rest} more lines of {total}; go on with start_line={next_line} ...]"
        )
    return "\n".join(shown)


def _truncate_line(line: str) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    dropped = len(line) - MAX_LINE_CHARACTERS
    return f"{line[:MAX_LINE_CHARACTERS]} [... {dropped} more characters ...]"


def _list_folder(places: WorkspacePaths, path: str) -> Reply:
    with os.scandir(path) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    shown = [_describe(entry) for entry in entries[:MAX_ENTRIES]]
    if len(entries) > len(shown):
        shown.append(f"[... {len(entries) - len(shown)} more entries ...]")
    return {
        "kind": "file_content",
        "path": places.shown(path),
        "text": "\n".join(shown),
        "total_lines": len(entries),
    }


def _describe(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.name} -> {os.readlink(entry.path)}"
    return entry.name + "/" if entry.is_dir() else entry.name
