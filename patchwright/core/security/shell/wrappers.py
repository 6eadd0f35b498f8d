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


def _wrappers(
    names: str, valued: str = "", operands: int = 0, subcommand: str = ""
) -> dict[str, Wrapper]:
    wrapper = Wrapper(frozenset(valued.split()), operands, subcommand)
    return dict.fromkeys(names.split(), wrapper)


_UV: Final = "--with --python -p --project --directory --env-file --extra --group"

WRAPPERS: Final = {
    **_wrappers("nohup setsid command builtin coproc eatmydata unbuffer fakeroot"),
    **_wrappers("chronic coverage busybox unshare ltrace dbus-run-session torsocks"),
    **_wrappers("proxychains"),
    **_wrappers("exec", "-a"),
    **_wrappers("env", "-u --unset -C --chdir -a --argv0"),
    **_wrappers("timeout gtimeout", "-s --signal -k --kill-after", operands=1),
    **_wrappers("nice", "-n --adjustment"),
    **_wrappers("ionice", "-c -n -p -P -u"),
    **_wrappers("chrt taskset setarch faketime chroot", operands=1),
    **_wrappers("stdbuf", "-i -o -e --input --output --error"),
    **_wrappers("strace", "-o -e -p -s -u -E"),
    **_wrappers("time", "-f -o --format --output"),
    **_wrappers("xargs", "-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter"),
    **_wrappers("parallel", "-j --jobs -N -I"),
    **_wrappers("watch", "-n --interval"),
    **_wrappers("flock", "-w --timeout -E", operands=1),
    **_wrappers("sudo", "-u -g -h -p -C -r -t -U -D -R -T"),
    **_wrappers("doas", "-u -C"),
    **_wrappers("xvfb-run", "-n -s -f -e -w -p"),
    **_wrappers("uv", _UV, operands=1, subcommand="run"),
    **_wrappers("poetry", "-C -P --directory --project", operands=1, subcommand="run"),
    **_wrappers("pipenv rye", operands=1, subcommand="run"),
    **_wrappers("pdm", "-p --project", operands=1, subcommand="run"),
    **_wrappers("hatch", "-e --env", operands=1, subcommand="run"),
    **_wrappers("bundle", operands=1, subcommand="exec"),
    **_wrappers("conda", "-n -p --name --prefix", operands=1, subcommand="run"),
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
