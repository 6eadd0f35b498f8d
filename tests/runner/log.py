"""The log of a job: what steps print, its commands carried out, secrets masked."""

import re
from dataclasses import dataclass, field
from typing import Final

MASK: Final = "***"
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
_COMMAND: Final = re.compile(
    r"::(?P<name>[a-z-]+)(?: (?P<details>[^:]*))?::(?P<text>.*)"
)
_ANNOTATIONS: Final = frozenset({"error", "warning", "notice"})
_SHOWN: Final = frozenset({"group", "endgroup", "debug", "echo"})
# These were replaced by files; who prints one today has not heard of it.
_RETIRED: Final = frozenset({"set-output", "save-state", "set-env", "add-path"})
_ESCAPES: Final = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))


class CommandError(Exception):
    """A step printed a command that the runner refuses."""


@dataclass(frozen=True)
class Annotation:
    level: str
    text: str


@dataclass
class Log:
    """Grows line by line; what was secret when a line came is not in it."""

    lines: list[str] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    _secrets: set[str] = field(default_factory=set)
    _resumes_at: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def add_secret(self, value: str) -> None:
        """Mask a value from now on, each of its lines too, as the runner does."""
        self._secrets |= {part for part in (value, *value.splitlines()) if part.strip()}

    def masked(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return text

    def take(self, line: str) -> None:
        """Carry out a command, or show the line."""
        command = _COMMAND.match(line.lstrip())
        if self._resumes_at is not None:
            self._wait_for_end(line)
        elif command is None:
            self.lines.append(self.masked(line))
        else:
            self._apply_command(command["name"], _unescaped(command["text"]))

    def say(self, level: str, text: str) -> None:
        masked = self.masked(text)
        self.annotations.append(Annotation(level, masked))
        self.lines.append(f"##[{level}]{masked}")

    def texts(self, level: str) -> list[str]:
        return [one.text for one in self.annotations if one.level == level]

    def _wait_for_end(self, line: str) -> None:
        if line.strip() == f"::{self._resumes_at}::":
            self._resumes_at = None
        self.lines.append(self.masked(line))

    def _apply_command(self, name: str, text: str) -> None:
        if name in _ANNOTATIONS:
            self.say(name, text)
        elif name == "add-mask":
            self.add_secret(text)
        elif name == "stop-commands":
            self._resumes_at = text
        elif name in _SHOWN:
            self.lines.append(self.masked(f"##[{name}]{text}"))
        elif name in _RETIRED:
            raise CommandError(f"::{name}:: was retired: write to its file instead")
        else:
            self.lines.append(self.masked(f"::{name}::{text}"))


def _unescaped(text: str) -> str:
    for written, meant in _ESCAPES:
        text = text.replace(written, meant)
    return text
