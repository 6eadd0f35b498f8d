"""Turn what a program printed into text: no colours, no redraws, valid UTF-8."""

from __future__ import annotations

import codecs
import re

MAX_LINE = 8192

# https://ecma-international.org/publications-and-standards/standards/ecma-48/
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC and such: titles, links
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-Z\\^-~]"  # two-character escapes
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]+)?\Z"
)
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REDRAW = re.compile(r"[\r\b]")
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class OutputCleaner:
    """Takes bytes as they come; gives lines back once they can no longer change."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._line = ""

    def feed(self, data: bytes) -> str:
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if _SPECIAL.search(text):
            text = self._without_sequences(text)
        lines, newline, self._line = (self._line + text).rpartition("\n")
        if _REDRAW.search(lines):
            lines = "\n".join(apply_redraws(line) for line in lines.split("\n"))
        return lines + newline + self._overlong()

    def peek(self) -> str:
        return apply_redraws(self._line)

    def flush(self) -> str:
        """Return the line that is still open, as it looks now."""
        shown, self._line = apply_redraws(self._line), ""
        return shown

    def _without_sequences(self, text: str) -> str:
        text = _SEQUENCE.sub("", text)
        unfinished = _UNFINISHED.search(text)
        if unfinished:
            self._held = unfinished.group()
            text = text[: unfinished.start()]
        elif text.endswith("\r"):
            self._held, text = "\r", text[:-1]
        return _CONTROL.sub("", text.replace("\r\n", "\n"))

    def _overlong(self) -> str:
        if len(self._line) <= MAX_LINE:
            return ""
        self._line = apply_redraws(self._line)
        return self.flush() if len(self._line) > MAX_LINE else ""


def apply_redraws(line: str) -> str:
    """Return what a line shows after its redraws and backspaces."""
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part), "")
    if "\b" not in line:
        return line
    shown: list[str] = []
    for character in line:
        if character != "\b":
            shown.append(character)
        elif shown:
            shown.pop()
    return "".join(shown)
