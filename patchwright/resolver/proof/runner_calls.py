"""Know the test runners, and the commands that call them."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.changes import is_test
from patchwright.resolver.proof.command_words import (
    SimpleCommand,
    Word,
    join_raw,
    split_command,
)
from patchwright.resolver.proof.runner_options import (
    ASSIGNMENT,
    has_refused_option,
    sets_refused_variable,
)
from patchwright.resolver.proof.runners import RunnerKind


@dataclass(frozen=True)
class TestCall:
    """A call of a runner, without what stands around it.

    `prefix` is all up to the runner's `arguments`: what prepares it, its launchers and
    itself. `folder` is where it starts, relative to the repository, or None if that is
    not known. `programs` are the files that it runs by their paths.
    """

    __test__ = False

    runner: RunnerKind
    prefix: str
    arguments: tuple[Word, ...] = ()
    folder: str | None = ""
    programs: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return " ".join([self.prefix, *(word.raw for word in self.arguments)])


_PYTHON: Final = re.compile(r"python(?:3(?:\.\d+)?)?")
# Where the tools of a project are installed.
_TOOLS: Final = re.compile(
    r"(?:\./)?(?:\.?venv/bin/|env/bin/|node_modules/\.bin/|vendor/bin/|bin/)?([\w.-]+)"
)
_INTERPRETER: Final = re.compile(r"python[\d.]*|php|ruby")
_SOURCES: Final = (".py", ".php", ".rb")
_WRAPPERS: Final = re.compile(r"\./(gradlew|mvnw)")
_LAUNCHERS: Final = (
    *(("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run")),
    *(("hatch", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("yarn", "exec")),
    *(("npx", "--no-install"), ("npx", "--yes"), ("npx", "-y"), ("npx",)),
    *(("npm", "exec", "--"), ("xvfb-run",), ("env",), ("time",)),
    ("coverage", "run", "-m"),
)
# These may only prepare what the runner needs, or look whether it is there. What they
# run of the repository is read where its scripts are.
_PREPARING: Final = re.compile(
    r"(?:cd|test|\[|export|pip3?|(?:python3? -m |uv )pip|uv (?:sync|venv|lock|add)"
    r"|(?:npm|pnpm) (?:ci|i|install|add|run (?:build|compile|generate|bundle)[\w:-]*)"
    r"|yarn(?: (?:install|add|build|compile|generate)|$)"
    r"|bundle (?:install|config|check)|composer (?:install|update|dump-autoload)"
    r"|poetry (?:install|lock|sync|config)|go (?:mod|build|generate)"
    r"|cargo (?:build|fetch)|dotnet (?:restore|build)|set)(?: |$)|cmake (?!-[PE]\b)"
    r"|(?:source|\.) (?:[\w.-]+/)*bin/activate$"
)
_PLAIN: Final = {
    "pytest": RunnerKind.PYTEST,
    "py.test": RunnerKind.PYTEST,
    "nose2": RunnerKind.UNITTEST,
    "jest": RunnerKind.JEST,
    "vitest": RunnerKind.VITEST,
    "mocha": RunnerKind.MOCHA,
    "rspec": RunnerKind.RSPEC,
    "phpunit": RunnerKind.PHPUNIT,
    "ctest": RunnerKind.CTEST,
    "prove": RunnerKind.PROVE,
    **dict.fromkeys(("make", "gmake", "just", "task", "tox", "nox"), RunnerKind.SCRIPT),
}
_WITH_WORD: Final = {
    ("go", "test"): RunnerKind.GO,
    ("cargo", "test"): RunnerKind.CARGO,
    ("cargo", "t"): RunnerKind.CARGO,
    ("dotnet", "test"): RunnerKind.DOTNET,
    ("rails", "test"): RunnerKind.MINITEST,
    ("rake", "test"): RunnerKind.MINITEST,
    ("mvn", "test"): RunnerKind.MAVEN,
    ("mvn", "verify"): RunnerKind.MAVEN,
    ("mvnw", "test"): RunnerKind.MAVEN,
    ("mvnw", "verify"): RunnerKind.MAVEN,
    **{
        (program, word): RunnerKind.GRADLE
        for program in ("gradle", "gradlew")
        for word in ("test", "check", "build")
    },
    **{
        (program, word): RunnerKind.SCRIPT
        for program in ("npm", "yarn", "pnpm", "composer")
        for word in ("test", "t", "run")
    },
}
# Tasks that only remove what was built, which come before the tests.
_CLEANING: Final = {
    **dict.fromkeys(("mvn", "mvnw"), ("clean",)),
    **dict.fromkeys(("gradle", "gradlew"), ("clean", "cleanTest")),
}
_MODULES: Final = {
    "pytest": RunnerKind.PYTEST,
    "unittest": RunnerKind.UNITTEST,
    "nose2": RunnerKind.UNITTEST,
    "tox": RunnerKind.SCRIPT,
    "nox": RunnerKind.SCRIPT,
}
_ACTIVATING: Final = ("source", ".")


def read_call(command: str) -> TestCall | None:
    """Return the runner that a command calls, or None if it may do anything else.

    What only shows the runner's output, or makes up an exit code behind it, is not
    part of the call: `pytest | tail -3; echo $?` is a call of `pytest`.
    """
    parts = split_command(command)
    before: list[SimpleCommand] = []
    operator = ";"
    for at, part in enumerate(parts):
        if operator not in ("&&", ";") and not _only_shows(part, operator):
            return None
        call = _runner_of(part.words) if operator in ("&&", ";") else None
        if call is not None:
            is_whole = all(map(_is_plain, (*before, part))) and _is_only_shown(
                parts[at:]
            )
            return _with_preparation(call, before) if is_whole else None
        if _prepares(part.values):
            before.append(part)
        elif not _only_shows(part, operator):
            return None
        operator = part.operator
    return None


def with_python_path(command: str) -> str:
    """Let a command add to PYTHONPATH, which leads to our recorder, not replace it."""
    return re.sub(r"(?<!\S)PYTHONPATH=", 'PYTHONPATH="$PYTHONPATH":', command)


# What is only there to be looked at. In a pipe it gets the runner's output.
_FILTERS: Final = frozenset(
    (
        *("tail", "head", "grep", "egrep", "rg", "tee", "cat", "less", "sed", "awk"),
        *("cut", "sort", "uniq", "wc", "tr", "column", "nl", "fold"),
    )
)
_SHOWN: Final = frozenset(
    (
        *("echo", "printf", "true", ":", "false", "exit", "ls", "pwd", "which"),
        *("date", "tail", "head", "cat"),
    )
)


def _only_shows(part: SimpleCommand, operator: str) -> bool:
    program = part.words[0].value
    if operator in ("|", "|&"):
        return program in _FILTERS
    is_option = part.values[1:] in (["--version"], ["-V"])
    return operator in ("&&", "||", ";") and (program in _SHOWN or is_option)


def _is_only_shown(parts: Sequence[SimpleCommand]) -> bool:
    """Tell whether what stands behind the first of these commands does not count."""
    reads_input = any(one.startswith("<") for one in parts[0].redirects)
    return (
        not reads_input
        and all(
            _only_shows(part, before.operator)
            for before, part in zip(parts, (*parts[1:], None), strict=True)
            if part is not None
        )
        and parts[-1].operator == ";"
    )


def _is_plain(part: SimpleCommand) -> bool:
    return all(word.is_plain for word in part.words)


def _with_preparation(call: TestCall, before: Sequence[SimpleCommand]) -> TestCall:
    ends = {"&&": " && ", ";": "; "}
    text = "".join(part.text + ends.get(part.operator, "; ") for part in before)
    activated = (
        word.value
        for part in before
        if part.words[0].value in _ACTIVATING
        for word in part.words[1:]
    )
    return TestCall(
        call.runner,
        text + call.prefix,
        call.arguments,
        _folder_after(before),
        (*call.programs, *activated),
    )


def _folder_after(before: Sequence[SimpleCommand]) -> str | None:
    folder = ""
    for part in before:
        match part.values:
            case ["cd", path] if path and not path.startswith(("/", "~", "-", "$")):
                folder = posixpath.normpath(posixpath.join(folder, path))
                folder = "" if folder == "." else folder
            case ["cd", "$PWD"]:
                continue
            case ["cd", *_]:
                return None
            case _:
                continue
    return None if folder.startswith("..") else folder


def _prepares(words: Sequence[str]) -> bool:
    assigned = words[1:] if words[0] == "export" else ()
    return bool(_PREPARING.match(" ".join(words))) and not any(
        map(sets_refused_variable, assigned)
    )


def _launchers_end(values: Sequence[str]) -> int | None:
    """Return how many words only start another program; None if in doubt.

    `coverage run -m` ends before its `-m`, which is followed by a module as Python's.
    """
    at = 0
    while at < len(values):
        if ASSIGNMENT.match(values[at]):
            if sets_refused_variable(values[at]):
                return None
            at += 1
        elif values[at] == "timeout":
            at += 2
        elif length := next(
            (
                len(one)
                for one in _LAUNCHERS
                if tuple(values[at : at + len(one)]) == one
            ),
            0,
        ):
            at += length
            if values[at - 1] == "-m":
                return at - 1
        else:
            return at
    return at


def _starts(values: Sequence[str], words: tuple[str, ...]) -> bool:
    return tuple(values[: len(words)]) == words


def _runner_of(words: Sequence[Word]) -> TestCall | None:
    values = [word.value for word in words]
    start = _launchers_end(values)
    if start is None or start >= len(values):
        return None
    if values[start] == "-m":  # of `coverage run`
        values[start:start] = ["python"]
        found = _runner_by_name("python", values[start + 1 :])
        size = start + found[1] if found else 0
        return _call(found, words, size, values[start + 1 :], ())
    wrapper = _WRAPPERS.fullmatch(values[start])
    tool = _TOOLS.fullmatch(values[start])
    name = wrapper[1] if wrapper else tool[1] if tool else ""
    found = _runner_by_name(name, values[start + 1 :]) if name else None
    # An interpreter is told which file to run; tests are looked at elsewhere.
    named = values[start : start + (2 if _INTERPRETER.fullmatch(name) else 1)]
    paths = (word for word in named if "/" in word or word.endswith(_SOURCES))
    programs = tuple(path for path in paths if not is_test(path))
    size = start + 1 + found[1] if found else 0
    return _call(found, words, size, values[start + 1 :], programs)


def _call(
    found: tuple[RunnerKind, int] | None,
    words: Sequence[Word],
    size: int,
    options: Sequence[str],
    programs: tuple[str, ...],
) -> TestCall | None:
    if found is None or has_refused_option(found[0], options):
        return None
    return TestCall(
        found[0], join_raw(words[:size]), tuple(words[size:]), programs=programs
    )


def _runner_by_name(name: str, words: list[str]) -> tuple[RunnerKind, int] | None:
    """Return the runner, and how many of the words behind its name belong to it."""
    if _PYTHON.fullmatch(name):
        return _python_runner(words)
    if name == "node":
        return (RunnerKind.NODE, 1) if "--test" in words[:1] else None
    if name == "ruby":
        is_minitest = words and is_test(words[-1])
        return (RunnerKind.MINITEST, 0) if is_minitest else None
    if name == "php" and words:
        found = _TOOLS.fullmatch(words[0])
        return (RunnerKind.PHPUNIT, 1) if found and found[1] == "phpunit" else None
    if name in _PLAIN:
        return _PLAIN[name], 0
    # Options may come first, as in `mvn -q test`, and so may `clean`.
    at = next((at for at, word in enumerate(words) if not _may_lead(name, word)), None)
    if at is None or (name, words[at]) not in _WITH_WORD:
        return None
    return _WITH_WORD[name, words[at]], at + 1


def _may_lead(name: str, word: str) -> bool:
    """Tell whether a word may stand between a program and what it is to do."""
    return word.startswith(("-", "+")) or word in _CLEANING.get(name, ())


def _python_runner(words: list[str]) -> tuple[RunnerKind, int] | None:
    at = 0
    while at < len(words) and re.fullmatch(r"-[BbuvqEsO]+|-[WX].*", words[at]):
        at += 2 if words[at] in ("-W", "-X") else 1
    match words[at:]:
        case ["-m", module, *_] if module in _MODULES:
            return _MODULES[module], at + 2
        case [file, "test", *_] if PurePosixPath(file).name == "manage.py":
            return RunnerKind.UNITTEST, at + 2
        case [file, *_] if file.endswith(".py") and is_test(file):
            return RunnerKind.UNITTEST, at + 1
        case _:
            return None
