"""Look through programs that only run another one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from patchwright.core.security.paths import SOMETHING
from patchwright.core.security.shell.script import Command, Word


@dataclass(frozen=True)
class Wrapper:
    """`valued` are the options with a value; so many operands come before the program."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(valued: str = "", operands: int = 0) -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands)


_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_PLAIN: Final = _wrapper()
_WRAPPERS: Final = {
    **dict.fromkeys(
        (
            "nohup setsid time command builtin coproc eatmydata unbuffer dbus-run-session "
            "fakeroot catchsegv ltrace chronic"
        ).split(),
        _PLAIN,
    ),
    "exec": _wrapper("-a"),
    "env": _wrapper("-u --unset -C --chdir -a --argv0"),
    "timeout": _wrapper("-s --signal -k --kill-after", operands=1),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p -P -u"),
    "chrt": _wrapper(operands=1),
    "taskset": _wrapper(operands=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "strace": _wrapper("-o -e -p -s -u -E"),
    "xargs": _wrapper(
        "-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter --replace "
        "--max-lines --arg-file"
    ),
    "parallel": _wrapper("-j --jobs -N -I"),
    "watch": _wrapper("-n --interval -d"),
    "flock": _wrapper("-w --timeout -E", operands=1),
    "sudo": _wrapper("-u -g -h -p -C -r -t -U -D -R -T"),
    "doas": _wrapper("-u -C"),
    "chroot": _wrapper(operands=1),
    "xvfb-run": _wrapper("-n -s -f -e -w -p"),
    "faketime": _wrapper(operands=1),
    "coverage": _PLAIN,
    "time": _wrapper("-f -o --format --output"),
    "gtimeout": _wrapper("-s --signal -k --kill-after", operands=1),
    "busybox": _PLAIN,
    "unshare": _PLAIN,
    "setarch": _wrapper(operands=1),
}
# A tool whose subcommand runs a program within a project's environment.
_RUNNERS: Final = {
    "uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "hatch": "run",
    "rye": "run", "bundle": "exec", "conda": "run", "direnv": "exec", "nix": "develop",
}  # fmt: skip
_FIND_RUNS: Final = {"-exec", "-execdir", "-ok", "-okdir"}
_UNKNOWN_OPERAND: Final = Word(text=SOMETHING)


def unwrapped(command: Command) -> Iterator[Command]:
    """Yield the commands that this one runs, as far as they stand in its arguments."""
    if command.name == "find":
        yield from _of_find(command)
    elif command.name == _runs_in(command):
        rest = [w for w in command.arguments[1:] if not w.text.startswith("-")]
        yield _with_words(command, tuple(rest))
    elif wrapper := _WRAPPERS.get(command.name):
        words = _behind(command, wrapper)
        if command.name == "xargs":
            words = (*words, *_given(command))
        yield _with_words(command, words)
    elif command.words and not command.words[0].is_known:
        # What is not known may turn out to be nothing at all.
        yield _with_words(command, command.words[1:])


def scripts_in(command: Command) -> Iterator[str]:
    """Yield the scripts in the arguments of what is no shell itself."""
    texts = [word.text for word in command.arguments]
    for at, text in enumerate(texts[:-1]):
        if command.name in {"su", "script", "flock", "runuser"} and text in {
            "-c",
            "--command",
        }:
            yield texts[at + 1]
        if command.name == "env" and text in {"-S", "--split-string"}:
            yield " ".join(texts[at + 1 :])
    for text in texts:
        if (
            command.name == "env"
            and text.startswith(("-S", "--split-string="))
            and text != "-S"
        ):
            yield text.removeprefix("--split-string=").removeprefix("-S")
    if command.name in {"watch", "parallel"}:
        yield " ".join(word.text for word in _behind(command, _WRAPPERS[command.name]))


def _runs_in(command: Command) -> str | None:
    subcommand = _RUNNERS.get(command.name)
    is_run = bool(command.arguments) and command.arguments[0].text == subcommand
    return command.name if is_run else None


def _behind(command: Command, wrapper: Wrapper) -> tuple[Word, ...]:
    words = command.arguments
    at, operands = 0, wrapper.operands
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
        elif text.startswith("-") and len(text) > 1:
            at += 2 if text in wrapper.valued else 1
        elif command.name == "env" and _ASSIGNMENT.match(text):
            at += 1
        elif operands:
            at, operands = at + 1, operands - 1
        else:
            break
    return words[at:]


def _given(command: Command) -> tuple[Word, ...]:
    """Return what `xargs` adds, as far as it stands in the pipe before it."""
    last = command.piped_from[-1] if command.piped_from else None
    if last is not None and last.name in {"echo", "printf"}:
        return tuple(
            replace(word, text=text)
            for word in last.arguments
            for text in word.text.replace("\\n", " ").replace("\\0", " ").split()
        )
    if last is not None and last.name == "find":
        return tuple(Word(text=f"{start}/{SOMETHING}") for start in _starts(last))
    return (_UNKNOWN_OPERAND,)


def _of_find(command: Command) -> Iterator[Command]:
    words = command.arguments
    found = [f"{start}/{SOMETHING}" for start in _starts(command)]
    for at, word in enumerate(words):
        if word.text in _FIND_RUNS:
            ends = (n for n in range(at, len(words)) if words[n].text in {";", "+"})
            run = words[at + 1 : next(ends, len(words))]
            yield _with_words(command, tuple(_filled(run, found)))


def _filled(words: tuple[Word, ...], found: list[str]) -> Iterator[Word]:
    for word in words:
        if "{}" not in word.text:
            yield word
            continue
        for path in found:
            yield replace(word, text=word.text.replace("{}", path))


def _starts(find: Command) -> list[str]:
    """Return the folders that `find` starts at."""
    texts = [word.text for word in find.arguments]
    ends = (at for at, text in enumerate(texts) if text[:1] in {"-", "(", "!"})
    return texts[: next(ends, len(texts))] or ["."]


def _with_words(command: Command, words: tuple[Word, ...]) -> Command:
    return replace(command, words=words, redirects=())
