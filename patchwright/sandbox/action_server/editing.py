"""Replace exact pieces of a text: all of the edits, or none."""

from __future__ import annotations

import difflib

from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.reading import read_regular
from patchwright.sandbox.action_server.text_codec import FileText, decode, with_newlines
from patchwright.sandbox.action_server.wire import Reply, ServerRequest
from patchwright.sandbox.action_server.writing import replace_file

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
