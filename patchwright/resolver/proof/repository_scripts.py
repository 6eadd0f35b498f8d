"""Read the repository's own scripts that a command calls, and what they run."""

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.changes import is_test
from patchwright.resolver.guards.runner_configuration import reachable_scripts
from patchwright.resolver.proof.runner_calls import TestCall, read_call
from patchwright.resolver.proof.runners import RunnerKind

_FILES: Final = (
    *("package.json", "composer.json", "Makefile", "makefile", "GNUmakefile"),
    *("justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Rakefile"),
    *("tox.ini", "noxfile.py", "pyproject.toml"),
)
_WITH_SCRIPTS: Final = ("package.json", "composer.json")
_FOLDER: Final = re.compile(
    r"(?:^|\s)(?:cd|-C|--prefix|--cwd|--dir|--directory)[ =]([\w./-]+)"
)
_WORD: Final = re.compile(r"[\w:.@/-]+")
# By which words a script calls a runner that prints its results.
_CALLS: Final[Mapping[RunnerKind, str]] = {
    RunnerKind.NODE: r"\bnode\b[^&|;\n]{0,200} --test\b",
    RunnerKind.JEST: r"\bjest\b|\breact-scripts test\b",
    RunnerKind.VITEST: r"\bvitest\b",
    RunnerKind.MOCHA: r"\bmocha\b",
    RunnerKind.GO: r"\bgo\)? test\b",
    RunnerKind.CARGO: r"\bcargo\)? (?:\+\S{1,40} )?t(?:est)?\b",
    RunnerKind.RSPEC: r"\brspec\b",
    RunnerKind.MINITEST: r"\bra(?:ils|ke) test\b|Rake::TestTask",
    RunnerKind.PHPUNIT: r"\bphpunit\b",
    RunnerKind.DOTNET: r"\bdotnet test\b",
    RunnerKind.MAVEN: r"\bmvnw? .{0,200}\b(?:test|verify)\b",
    RunnerKind.GRADLE: r"\bgradlew? .{0,200}\b(?:test|check)\b",
    RunnerKind.CTEST: r"\bctest\b",
    RunnerKind.PROVE: r"\bprove\b",
}
# A file with another ending is compiled or read, but never run by its name.
_RUN_BY_NAME: Final = frozenset(
    {"", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua"}
    | {".sh", ".bash", ".zsh", ".mk"}
)
# Files by which a folder is run.
_OF_A_FOLDER: Final = ("__main__", "index")


def recipe_paths(command: str) -> tuple[str, ...]:
    """Return where the scripts may be written down that a command calls."""
    folders = ("", *_FOLDER.findall(command))
    paths = (posixpath.join(folder, file) for folder in folders for file in _FILES)
    return tuple(dict.fromkeys(map(posixpath.normpath, paths)))


def recipe_of(command: str, files: Mapping[str, str]) -> str:
    """Return what the scripts that a command calls run, as far as the files tell."""
    parts = [
        _called_scripts(text, _WORD.findall(command))
        if path.endswith(_WITH_SCRIPTS)
        else text
        for path, text in files.items()
    ]
    return "\n".join(parts)


def called_runner(call: TestCall, files: Mapping[str, str]) -> TestCall:
    """Return the call of the one runner that a script of a package is.

    It is still run by the script's name, with arguments that the script hands on. Any
    other call is returned as it is.
    """
    words = call.prefix.split()
    program = next((word for word in words if word in _PACKAGE_MANAGERS), None)
    if call.runner is not RunnerKind.SCRIPT or program is None:
        return call
    arguments = list(call.arguments)
    name = words[-1]
    if name == "run" and arguments:
        name = arguments.pop(0).value
    scripts = _package_scripts(call, files)
    inner = read_call(scripts.get("test" if name == "t" else name, ""))
    if inner is None or inner.runner is RunnerKind.SCRIPT:
        return call
    if inner.command != scripts["test" if name == "t" else name].strip():
        return call  # what is added would not reach the runner
    prefix = call.prefix if words[-1] == name else f"{call.prefix} {name}"
    handed_on = [word for word in arguments if word.value != "--"]
    if program in _WITH_SEPARATOR:
        if arguments and arguments[0].value != "--":
            return call
        prefix = f"{prefix} --"
    return TestCall(
        inner.runner,
        prefix,
        tuple(handed_on),
        call.folder,
        (*call.programs, *inner.programs),
    )


_PACKAGE_MANAGERS: Final = ("npm", "yarn", "pnpm", "composer")
# They keep arguments for themselves that do not stand behind `--`.
_WITH_SEPARATOR: Final = ("npm", "composer")


def _package_scripts(call: TestCall, files: Mapping[str, str]) -> Mapping[str, str]:
    file = "composer.json" if "composer" in call.prefix.split() else "package.json"
    text = files.get(posixpath.normpath(posixpath.join(call.folder or "", file)), "")
    return {
        name: script
        for name, script in _scripts_in(text).items()
        if isinstance(script, str)
    }


def find_runners(recipe: str) -> tuple[RunnerKind, ...]:
    """Return the runners that print what they have found, and are named there."""
    return tuple(
        one for one, call in _CALLS.items() if re.search(call, recipe, re.IGNORECASE)
    )


def runs_changed_file(recipe: str, changed: Collection[str]) -> bool:
    """Tell whether a script runs one of the changed files.

    Tests may be named: they are the same with the change and without it.
    """
    words = {posixpath.normpath(word) for word in _WORD.findall(recipe)}
    names = words | {PurePosixPath(word).name for word in words}
    own = (path for path in changed if not is_test(path))
    return any(name in names for path in own for name in _script_names(path))


def _script_names(path: str) -> Iterable[str]:
    """Yield by which names a script may call a file."""
    file = PurePosixPath(path)
    if file.suffix not in _RUN_BY_NAME:
        return
    whole = file.parent if file.stem in _OF_A_FOLDER else file.with_suffix("")
    yield from (path, file.name)
    if whole.name:
        yield from (str(whole), ".".join(whole.parts))


def _called_scripts(text: str, words: Sequence[str]) -> str:
    """Return the scripts that a command calls by name, and those that they call."""
    named = _scripts_in(text)
    if not named and "scripts" in text:  # it cannot be read
        return text
    return "\n".join(str(named[name]) for name in reachable_scripts(named, words))


def _scripts_in(text: str) -> Mapping[str, object]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    scripts = read.get("scripts") if isinstance(read, dict) else None
    return scripts if isinstance(scripts, dict) else {}
