"""Read, write, edit and transfer the files of a workspace."""

from __future__ import annotations

import base64
import codecs
import difflib
import hashlib
import os
import stat
from typing import NamedTuple

from patchwright.sandbox.action_server.change_report import (
    ChangeReport,
    report_change,
)
from patchwright.sandbox.action_server.protocol import (
    CHUNK,
    ActionError,
    Reply,
    ServerRequest,
)
from patchwright.sandbox.action_server.workspace_paths import (
    WorkspacePaths,
    new_name,
    remove_if_there,
)

SAMPLE = 8192
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class FileText(NamedTuple):
    """The text of a file, and what it takes to write it the way it was."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    def newline(self) -> str:
        windows = self.text.count("\r\n")
        return "\r\n" if windows > self.text.count("\n") - windows else "\n"

    def encode(self, text: str) -> bytes:
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            wrong = text[error.start : error.end]
            raise ActionError(
                "encoding", f"the file is {self.encoding} and cannot hold {wrong!r}"
            ) from error


def decode(data: bytes) -> FileText | None:
    """Return the text, or None for a binary file.

    What is not UTF-8 is read as Latin-1, which maps every byte to one character and
    back, whatever the bytes were meant to be.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            found = _decode_exactly(data[len(bom) :], encoding)
            if found is not None:
                return FileText(found, encoding, bom)
    if b"\0" in data[:SAMPLE]:
        return None
    found = _decode_exactly(data, "utf-8")
    if found is not None:
        return FileText(found)
    return FileText(data.decode("latin-1"), "latin-1")


def _decode_exactly(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if text.encode(encoding) == data else None


def with_newlines(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", newline)


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
    lines = split_lines(content.text)
    wanted = lines[first - 1 : last if isinstance(last, int) else None]
    shown = _number_lines(wanted, first, len(lines))
    return {
        "kind": "file_content",
        "path": places.shown(path),
        "text": shown if wanted else _explain_nothing(first, len(lines)),
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


def split_lines(text: str) -> list[str]:
    """Return the lines as they are counted everywhere, without their ends."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


def _explain_nothing(first: int, total: int) -> str:
    """Say why there is no line to show, where the file itself is there."""
    if not total:
        return "[the file is empty]"
    has = "1 line" if total == 1 else f"{total} lines"
    if first > total:
        return f"[the file has {has}; there is none from line {first} on]"
    return f"[no line: end_line is less than start_line={first}; the file has {has}]"


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
            f"[... {rest} more lines of {total}; "
            f"continue with start_line={next_line} ...]"
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
        "text": "\n".join(shown) or "[the folder is empty]",
        "total_lines": len(entries),
    }


def _describe(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.name} -> {os.readlink(entry.path)}"
    return entry.name + "/" if entry.is_dir() else entry.name


def describe_change(path: str, before: bytes | None, after: bytes) -> ChangeReport:
    old, new = decode(before or b""), decode(after)
    if old is None or new is None:
        return ChangeReport(f"Binary file {path} differs\n", "")
    return report_change(path, None if before is None else old.text, new.text)


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
    change = describe_change(shown, before, after)
    return {
        "kind": "file_edited",
        "path": shown,
        "diff": change.diff,
        "excerpt": change.excerpt,
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


MAX_SHOWN = 10
MAX_COMPARED_LINES = 20_000


def edit_file(places: WorkspacePaths, request: ServerRequest) -> Reply:
    """Apply the edits in order; an error means that nothing was written."""
    path = places.in_repo(request.text("path"))
    shown = places.shown(path)
    before = read_regular(path, shown)
    content = decode(before)
    if content is None:
        raise ActionError("binary", f"{shown} is a binary file")
    text = content.text
    for number, edit in enumerate(request.objects("edits"), 1):
        where = f"Edit {number} of {shown}"
        text = _apply(content._replace(text=text), edit, where)
    return replace_file(path, shown, before, content.encode(text))


def _apply(content: FileText, edit: ServerRequest, where: str) -> str:
    old, new = edit.text("old"), edit.text("new")
    if not old:
        raise ActionError("bad-request", f"{where}: `old` is empty.")
    text = content.text
    if content.newline() == "\r\n":
        new = with_newlines(new, "\r\n")
    starts = _find_all(text, old)
    if not starts:
        old = with_newlines(old, "\r\n")
        starts = _find_all(text, old)
    if not starts:
        hint = _nearest(text, old)
        raise ActionError("no-match", f"{where}: `old` is not in it. {hint}")
    start = _choose(text, starts, edit, where)
    return text[:start] + new + text[start + len(old) :]


def _find_all(text: str, old: str) -> list[int]:
    starts: list[int] = []
    start = text.find(old)
    while start >= 0:
        starts.append(start)
        start = text.find(old, start + len(old))
    return starts


def _choose(text: str, starts: list[int], edit: ServerRequest, where: str) -> int:
    lines = [str(text.count("\n", 0, start) + 1) for start in starts[:MAX_SHOWN]]
    matches = f"{where}: `old` matches {len(starts)} times, at lines {', '.join(lines)}"
    if edit.fields.get("occurrence") is None:
        if len(starts) == 1:
            return starts[0]
        remedy = "give more of the text around it, or `occurrence`"
        raise ActionError("several-matches", f"{matches}; {remedy}.")
    occurrence = edit.whole("occurrence", 1)
    if not 1 <= occurrence <= len(starts):
        raise ActionError("no-match", f"{matches}.")
    return starts[occurrence - 1]


def _nearest(text: str, old: str) -> str:
    """Show the lines that look most like the first line of what was searched."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.splitlines()[:MAX_COMPARED_LINES], 1):
        numbers.setdefault(line.strip(), number)
    close = difflib.get_close_matches(wanted, list(numbers), n=3, cutoff=0.5)
    if not close:
        return "No line looks like it; read the file again."
    lines = text.splitlines()
    shown = (f"{numbers[line]}: {lines[numbers[line] - 1]!r}" for line in close)
    return "Nearest lines: " + "; ".join(shown)


def upload(places: WorkspacePaths, request: ServerRequest) -> Reply:
    """Write one piece at its offset; the first piece empties the file."""
    path = places.in_workspace(request.text("path"))
    offset = request.whole("offset", 0)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(base64.b64decode(request.text("data")))
    return {"kind": "stored"}


def download(places: WorkspacePaths, request: ServerRequest) -> Reply:
    path = places.in_workspace(request.text("path"))
    if not os.path.isfile(path):
        raise ActionError("not-found", f"there is no file {request.text('path')}")
    with open(path, "rb") as file:
        file.seek(request.whole("offset", 0))
        data = file.read(CHUNK)
        size = os.fstat(file.fileno()).st_size
    return {"kind": "piece", "data": base64.b64encode(data).decode(), "size": size}
