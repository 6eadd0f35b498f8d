"""A shell script as what it would run, one simple command after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Values = Mapping[str, tuple[str, ...]]


class UnreadableError(Exception):
    """A script is not one that bash would run, or too intricate to be followed."""


@dataclass(frozen=True)
class ShellWord:
    """A word as it is when the quotes are off and the known variables are filled in.

    In `text` NUL stands for what nobody knows before it is run. `inner` are the
    commands whose output is a part of it; `tricky` means that it is written in a way
    that hides what it becomes.
    """

    text: str
    inner: "tuple[Command, ...]" = ()
    tricky: bool = False

    @property
    def is_known(self) -> bool:
        return "\0" not in self.text


@dataclass(frozen=True)
class Redirect:
    """`operator` is that of bash, such as `>>`."""

    operator: str
    target: ShellWord


@dataclass(frozen=True)
class ShellCommand:
    """A simple command; `words` may be empty, as in `> file`.

    `folder` is where it runs, as far as the script says. `values` are the variables
    known at that point. `stdin` is the text of a here-document or here-string.
    `piped_from` are the commands whose output it reads. `forks` means that it calls
    the function that it is in, more than once.
    """

    words: tuple[ShellWord, ...]
    folder: str
    redirects: tuple[Redirect, ...] = ()
    stdin: str | None = None
    piped_from: "tuple[Command, ...]" = ()
    values: Values = field(default_factory=dict)
    forks: bool = False

    @property
    def name(self) -> str:
        """Return the program's name without its folder."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[ShellWord, ...]:
        return self.words[1:]

    def sources(self) -> "Iterator[Command]":
        """Yield all commands whose output it may use, directly or not, once each."""
        seen: set[int] = set()
        left = [self]
        while left:
            command = left.pop()
            inner = (one for word in command.words for one in word.inner)
            for source in (*command.piped_from, *inner):
                if id(source) not in seen:
                    seen.add(id(source))
                    left.append(source)
                    yield source
