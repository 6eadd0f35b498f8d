"""A shell script as simple commands, and a command as a rule sees it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from patchwright.core.security.analyzer import LOW_RISK, Verdict

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
    inner: "tuple[ShellCommand, ...]" = ()
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
    piped_from: "tuple[ShellCommand, ...]" = ()
    values: Values = field(default_factory=dict)
    forks: bool = False

    @property
    def name(self) -> str:
        """Return the program's name without its folder."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[ShellWord, ...]:
        return self.words[1:]

    def sources(self) -> "Iterator[ShellCommand]":
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


NO_OPTIONS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ProgramCall:
    """`run` judges another script, and `start` another command, that this one runs."""

    command: ShellCommand
    run: Callable[[str, ShellCommand], Verdict]
    start: Callable[[ShellCommand], Verdict]

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def arguments(self) -> tuple[ShellWord, ...]:
        return self.command.arguments

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.arguments]

    def operands(self, valued: Collection[str] = NO_OPTIONS) -> list[ShellWord]:
        """Return the arguments that are no options; `valued` are those with a value."""
        return [word for option, word in self.parted(valued) if not option]

    def values_of(self, *options: str) -> list[ShellWord]:
        """Return what follows one of the options, or stands behind its `=`."""
        pairs = self.parted(frozenset(options))
        return [word for option, word in pairs if option in options]

    def parted(self, valued: Collection[str]) -> Iterator[tuple[str, ShellWord]]:
        """Yield each argument with the option that it is the value of."""
        option, only_operands = "", False
        for word in self.arguments:
            text = word.text
            if option:
                yield option, word
                option = ""
            elif only_operands or not text.startswith("-") or text == "-":
                yield "", word
            elif text == "--":
                only_operands = True
            elif text in valued:
                option = text
            elif attached := _attached(text, valued):
                yield attached[0], replace(word, text=attached[1])

    def has(self, *options: str) -> bool:
        """Tell whether an option is there, also as one letter of several."""
        return any(_is_one_of(text, options) for text in self.texts)


def names_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


ProgramRule = Callable[[ProgramCall], Verdict]
ProgramRules = Mapping[str, ProgramRule]


def for_programs(*rows: tuple[str, Verdict | ProgramRule]) -> ProgramRules:
    """Return each program's rule; a row names programs, with blanks between them."""
    return {name: _as_rule(rule) for names, rule in rows for name in names.split()}


def first_match(
    *cases: tuple[str, Verdict | ProgramRule], valued: str = ""
) -> ProgramRule:
    """Return the rule of the first pattern that fits a call, as LOW where none does.

    `remote add|set-url -f|--force` fits where the operands begin with `remote` and one
    of the two others, and one of the options is there. An operand is no option, and
    not the value of one that is `valued`.
    """

    def judge(call: ProgramCall) -> Verdict:
        operands = [word.text for word in call.operands(valued.split())]
        fitting = (then for text, then in cases if _fits(call, operands, text))
        then = next(fitting, LOW_RISK)
        return _as_rule(then)(call)

    return judge


def _fits(call: ProgramCall, operands: Sequence[str], pattern: str) -> bool:
    words = [one.split("|") for one in pattern.split()]
    options = [one for one in words if one[0].startswith("-")]
    wanted = [one for one in words if one not in options]
    return (
        all(call.has(*one) for one in options)
        and len(operands) >= len(wanted)
        and all(text in one for text, one in zip(operands, wanted, strict=False))
    )


def _as_rule(rule: Verdict | ProgramRule) -> ProgramRule:
    return (lambda _: rule) if isinstance(rule, Verdict) else rule


def _attached(text: str, valued: Collection[str]) -> tuple[str, str] | None:
    name, equals, value = text.partition("=")
    if equals and name in valued:
        return name, value
    short = text[:2]
    return (short, text[2:]) if short in valued and not text.startswith("--") else None


def _is_one_of(text: str, options: Collection[str]) -> bool:
    if text.partition("=")[0] in options:
        return True
    is_letters = text.startswith("-") and not text.startswith("--")
    return is_letters and any(
        len(one) == len("-x") and one[1] in text[1:] for one in options
    )
