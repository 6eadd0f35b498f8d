"""Describe a change of a file as a unified diff for readers."""

from __future__ import annotations

import difflib

from patchwright.sandbox.action_server.text_codec import decode

MAX_DIFF_LINES = 20_000
MAX_DIFF_CHARACTERS = 20_000
NO_NEWLINE = "\n\\ No newline at end of file\n"


def describe_change(path: str, before: bytes | None, after: bytes) -> str:
    old, new = decode(before or b""), decode(after)
    if old is None or new is None:
        return f"Binary file {path} differs\n"
    old_lines = old.text.splitlines(keepends=True)
    new_lines = new.text.splitlines(keepends=True)
    if max(len(old_lines), len(new_lines)) > MAX_DIFF_LINES:
        return f"{path} is too long for a diff\n"
    diff = difflib.unified_diff(
        old_lines,
        new_lines,
        "/dev/null" if before is None else f"a/{path}",
        f"b/{path}",
    )
    text = "".join(line if line.endswith("\n") else line + NO_NEWLINE for line in diff)
    if len(text) <= MAX_DIFF_CHARACTERS:
        return text
    return f"{text[:MAX_DIFF_CHARACTERS]}\n[... {len(text) - MAX_DIFF_CHARACTERS} more ...]\n"
