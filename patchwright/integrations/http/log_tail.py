"""Read the end of what a job of a pipeline printed, as plain text."""

import re
from collections.abc import Iterable
from typing import Final

MAX_TAIL_CHARS: Final = 10_000
_MAX_TAIL_BYTES: Final = 256 * 1024
_MAX_BYTES: Final = 100_000_000

# https://ecma-international.org/publications-and-standards/standards/ecma-48/
_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-_]"
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read_end(chunks: Iterable[bytes]) -> bytes:
    """Return the last of what comes, or nothing of what goes on for ever."""
    end, read = bytearray(), 0
    for chunk in chunks:
        read += len(chunk)
        if read > _MAX_BYTES:
            return b""
        end += chunk
        del end[:-_MAX_TAIL_BYTES]
    return bytes(end)


def plain_log(raw: bytes, left_out: re.Pattern[str]) -> str:
    """Return the text without colours, and without what matches `left_out`."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    return _CONTROL.sub("", _SEQUENCE.sub("", left_out.sub("", text)))


def last_lines(text: str) -> str:
    """Return the end of a text, from the beginning of a line on."""
    if len(text) <= MAX_TAIL_CHARS:
        return text
    end = text[-MAX_TAIL_CHARS:]
    _, broken, rest = end.partition("\n")
    return rest if broken else end
