"""The programs that only run another one, and the command inside them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from patchwright.core.security.paths import UNKNOWN_PART
from patchwright.core.security.shell.script import ShellCommand, ShellWord
from patchwright.core.security.shell.words import without_escapes


@dataclass(frozen=True)
class Wrapper:
    """`valued` are options with a value; `operands` come before the other program.

    A `subcommand` has to be there, as the first of those.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    subcommand: str = ""


def _wrapper(valued: str = "", operands: int = 0, subcommand: str = "") -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, subcommand)


def _plain(names: str) -> dict[str, Wrapper]:
    return dict.fromkeys(names.split(), _wrapper())


_UNTIL: Final = _wrapper("-s --signal -k --kill-after", operands=1)

WRAPPERS: Final = {
    **_plain("nohup setsid command builtin coproc eatmydata unbuffer fakeroot chronic"),
    **_plain("coverage busybox unshare ltrace dbus-run-session torsocks proxychains"),
    "exec": _wrapper("-a"),
    "env": _wrapper("-u --unset -C --chdir -a --argv0"),
    "timeout": _UNTIL,
    "gtimeout": _UNTIL,
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p -P -u"),
    "chrt": _wrapper(operands=1),
    "taskset": _wrapper(operands=1),
    "setarch": _wrapper(operands=1),
    "faketime": _wrapper(operands=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "strace": _wrapper("-o -e -p -s -u -E"),
    "time": _wrapper("-f -o --format --output"),
    "xargs": _wrapper("-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter"),
    "parallel": _wrapper("-j --jobs -N -I"),
    "watch": _wrapper("-n --interval"),
    "flock": _wrapper("-w --timeout -E", operands=1),
    "sudo": _wrapper("-u -g -h -p -C -r -t -U -D -R -T"),
    "doas": _wrapper("-u -C"),
    "chroot": _wrapper(operands=1),
    "xvfb-run": _wrapper("-n -s -f -e -w -p"),
    "uv": _wrapper(
        "--with --python -p --project --directory --env-file --extra --group",
        operands=1,
        subcommand="run",
    ),
    "poetry": _wrapper("-C -P --directory --project", operands=1, subcommand="run"),
    "pipenv": _wrapper(operands=1, subcommand="run"),
    "pdm": _wrapper("-p --project", operands=1, subcommand="run"),
    "hatch": _wrapper("-e --env", operands=1, subcommand="run"),
    "rye": _wrapper(operands=1, subcommand="run"),
    "bundle": _wrapper(operands=1, subcommand="exec"),
    "conda": _wrapper("-n -p --name --prefix", operands=1, subcommand="run"),
}


_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_FIND_RUNS: Final = {"-exec", "-execdir", "-ok", "-okdir"}
_RUN_SCRIPTS: Final = {"su", "runuser", "script", "flock"}
_SCRIPT_OPTIONS: Final = {"-c", "--command"}
_SPLIT: Final = re.compile(r"(?:-[iv0]*S|--split-string=?)(.*)", re.DOTALL)


def wrapped_commands(command: ShellCommand) -> Iterator[ShellCommand]:
    """Yield the commands that this one runs, as far as they stand in its arguments."""
    if command.name == "find":
        yield from _of_find(command)
    elif wrapper := WRAPPERS.get(command.name):
        words = _behind(command, wrapper)
        if command.name == "xargs":
            words = (*words, *_given(command))
        if words:
            yield _with_words(command, words)
    elif command.words[1:] and not command.words[0].is_known:
        # What is not known may turn out to be nothing at all.
        yield _with_words(command, command.words[1:])


def scripts_in(command: ShellCommand) -> Iterator[str]:
    """Yield the scripts in the arguments of what is no shell itself."""
    texts = [word.text for word in command.arguments]
    for at, text in enumerate(texts):
        if command.name in _RUN_SCRIPTS and text in _SCRIPT_OPTIONS:
            yield "".join(texts[at + 1 : at + 2])
        if command.name == "env" and (split := _SPLIT.fullmatch(text)):
            yield " ".join([split[1], *texts[at + 1 :]])
    if command.name in {"watch", "parallel"}:
        words = _behind(command, WRAPPERS[command.name])
        yield " ".join(word.text for word in words)


def start_folders(find: ShellCommand) -> list[str]:
    """Return the folders that `find` starts at."""
    texts = [word.text for word in find.arguments]
    ends = (at for at, text in enumerate(texts) if text[:1] in {"-", "(", "!"})
    return texts[: next(ends, len(texts))] or ["."]


def _behind(command: ShellCommand, wrapper: Wrapper) -> tuple[ShellWord, ...]:
    words = command.arguments
    at, operands = 0, wrapper.operands
    while at < len(words):
        text = words[at].text
        if text.startswith("-") and len(text) > 1:
            at += 2 if text in wrapper.valued else 1
        elif command.name == "env" and _ASSIGNMENT.match(text):
            at += 1
        elif not operands:
            return words[at:]
        elif wrapper.subcommand not in {"", text}:
            return ()
        else:
            at, operands = at + 1, operands - 1
    return ()


def _given(command: ShellCommand) -> tuple[ShellWord, ...]:
    """Return what `xargs` adds, as far as it stands in the pipe before it."""
    last = command.piped_from[-1] if command.piped_from else None
    if last is not None and last.name in {"echo", "printf"}:
        return tuple(
            replace(word, text=text)
            for word in last.arguments
            for text in without_escapes(word.text).replace(UNKNOWN_PART, " ").split()
        )
    if last is not None and last.name == "find":
        return tuple(
            ShellWord(text=f"{one}/{UNKNOWN_PART}") for one in start_folders(last)
        )
    return (ShellWord(text=UNKNOWN_PART),)


def _of_find(command: ShellCommand) -> Iterator[ShellCommand]:
    words = command.arguments
    found = [f"{start}/{UNKNOWN_PART}" for start in start_folders(command)]
    for at, word in enumerate(words):
        if word.text in _FIND_RUNS:
            ends = (n for n in range(at, len(words)) if words[n].text in {";", "+"})
            run = words[at + 1 : next(ends, len(words))]
            yield _with_words(command, tuple(_filled(run, found)))


def _filled(words: tuple[ShellWord, ...], found: list[str]) -> Iterator[ShellWord]:
    for word in words:
        if "{}" not in word.text:
            yield word
            continue
        for path in found:
            yield replace(word, text=word.text.replace("{}", path))


def _with_words(command: ShellCommand, words: tuple[ShellWord, ...]) -> ShellCommand:
    return replace(command, words=words, redirects=())
