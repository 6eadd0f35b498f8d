"""Read a file as text and write it back without touching what was not edited."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from patchwright.sandbox.action_server.failure import ActionError

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
