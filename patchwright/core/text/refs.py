"""Tell which names a branch may have, without asking git."""

import re
from typing import Final

# Git keeps a branch as a file, and most file systems end a name at 255 bytes.
MAX_BRANCH_CHARS: Final = 200
# What git refuses, and what a shell or a link minds.
# https://git-scm.com/docs/git-check-ref-format
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9._/+=@,-]+\Z")
_FORBIDDEN: Final = ("..", "//", "@{")


def is_branch_name(name: str) -> bool:
    """Tell whether git takes it for a branch, and it is plain, bounded ASCII."""
    if len(name) > MAX_BRANCH_CHARS or not _CHARACTERS.match(name):
        return False
    if name in ("@", "HEAD") or name.startswith(("-", "refs/")):
        return False
    if any(piece in name for piece in _FORBIDDEN):
        return False
    return all(map(_is_part, name.split("/")))


def branch_part(text: str, instead: str) -> str:
    """Return a text as a part of a branch's name, keeping its case; never empty."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
    return plain[:60].rstrip("-") or instead


def _is_part(part: str) -> bool:
    return bool(part) and not part.startswith(".") and not part.endswith((".", ".lock"))
