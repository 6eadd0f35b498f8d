"""The difference between two commits, cut up for a page."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """A line of a difference; `kind` is the class of its style."""

    kind: str
    text: str


@dataclass(frozen=True)
class File:
    name: str
    lines: tuple[Line, ...]


def between(base: str, head: str) -> tuple[str, ...]:
    """Return the command of git that tells what `head` changed since it left `base`."""
    return ("diff", "--end-of-options", f"{base}...{head}")


def read_difference(folder: Path, command: tuple[str, ...]) -> str | None:
    """Return what git says, None where a revision is not there."""
    git = ["git", "-C", str(folder), *command]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def files_of(difference: str) -> list[File]:
    """Return the files of a difference, each with its lines from the first hunk on."""
    files: list[File] = []
    for part in re.split(r"^diff --git .*\n", difference, flags=re.MULTILINE)[1:]:
        head, mark, hunks = part.partition("\n@@ ")
        # The old name of a file that is gone comes first, and its new one is no file.
        names = re.findall(r"^(?:--- a|\+\+\+ b)/(.+)$", head, re.MULTILINE)
        body = f"@@ {hunks}" if mark else head
        name = names[-1] if names else "a file without text"
        files.append(File(name, tuple(map(_line, body.splitlines()))))
    return files


def _line(text: str) -> Line:
    kinds = {"+": "plus", "-": "minus", "@": "hunk"}
    return Line(kinds.get(text[:1], ""), text)
