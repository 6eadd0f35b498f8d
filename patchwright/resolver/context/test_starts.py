"""Find in a repository's own files how its tests are started."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.types.base import Value

# The files that are read, besides the workflows of CI.
_FILES: Final = (
    *("tox.ini", "noxfile.py", "pyproject.toml", "setup.cfg", "pytest.ini"),
    *("package.json", "Makefile", "justfile", ".gitlab-ci.yml", ".circleci/config.yml"),
)
_WORKFLOW: Final = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_MOST_WORKFLOWS: Final = 8
_MOST_OF_A_FILE: Final = 2
_MOST_STARTS: Final = 6
_MOST_CHARS: Final = 120
# What may stand before a runner: variables, and programs that run another one.
_BEFORE: Final = (
    r"(?:[A-Za-z_]\w*=\S* +)*(?:"
    r"(?:uv|poetry|pdm|pipenv|hatch|rye) +run +"
    r"(?:--(?:group|extra|with|python|package) +\S+ +|--?[\w=-]+ +)*"
    r"|bundle +exec +|npx +|pnpm +exec +|coverage +run +(?:-[\w=-]+ +)*?(?=-m )"
    r"|xvfb-run +(?:-\S+ +)*|(?:python3?|\{envpython\}|py) +(?=-m ))?"
)
_RUNNER: Final = re.compile(
    rf"{_BEFORE}(?:(?:-m +)?(?:pytest|py\.test|unittest|tox|nox|nose2)(?![\w-])"
    r"|jest\b|vitest\b|mocha\b|node +--test\b"
    r"|(?:npm|pnpm|yarn|bun) +(?:-\S+ +)*(?:run +)?(?:test|t\b)"
    r"|go +test\b|gotestsum\b|cargo +(?:test|nextest)\b|rspec\b|rake +(?:test|spec)\b"
    r"|(?:vendor/bin/|\./vendor/bin/)?phpunit\b|composer +(?:run +)?test\b|ctest\b"
    r"|(?:mvn|\./mvnw)\b.* (?:test|verify)\b|(?:gradle|\./gradlew)\b.* (?:test|check)\b"
    r"|make +(?:-\S+ +)*(?:test|check)|just +test|(?:bin/)?rails +test\b"
    r"|dotnet +test\b)"
)
# Of a line, what is no command: the marks of YAML, of make and of a configuration.
_MARKS: Final = re.compile(
    r"^\s*(?:-\s+)?(?:(?:run|script|commands?|test)\s*[:=]\s*)?[@|>-]*\s*"
)
_COMMAND_ENDS: Final = re.compile(r"\s*(?:&&|\|\||;)\s*")
_MAKE_TARGET: Final = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_SESSION_RUN: Final = re.compile(r"session\.run\(([^)]*)\)")
_STRING: Final = re.compile(r"""["']([^"'\n]+)["']""")
_PYTEST_SETTINGS: Final = ("testpaths", "addopts", "pythonpath")


class TestStart(Value):
    """A command by which a file of the repository starts tests."""

    __test__ = False

    file: str
    command: str


def files_with_starts(paths: Iterable[str]) -> tuple[str, ...]:
    """Return which of a repository's files may say how tests are started."""
    found = set(paths)
    workflows = sorted(path for path in found if _WORKFLOW.fullmatch(path))
    # Those that are named after tests first.
    workflows.sort(key=lambda path: not re.search("test|ci", PurePosixPath(path).stem))
    return (
        *workflows[:_MOST_WORKFLOWS],
        *(path for path in _FILES if path in found),
    )


def find_test_starts(texts: Mapping[str, str]) -> tuple[TestStart, ...]:
    """Return how tests are started, by the texts of the files that may say so.

    Each command is named once, by the first file that has it.
    """
    found: dict[str, str] = {}
    for file, text in texts.items():
        commands = dict.fromkeys(map(_shortened, _commands_of(file, text)))
        for command in list(commands)[:_MOST_OF_A_FILE]:
            found.setdefault(command, file)
    starts = [TestStart(file=file, command=one) for one, file in found.items()]
    return tuple(starts[:_MOST_STARTS])


def _shortened(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _MOST_CHARS else f"{line[: _MOST_CHARS - 1]}…"


def _commands_of(file: str, text: str) -> Iterator[str]:
    match PurePosixPath(file).name:
        case "package.json":
            yield from _node_scripts(text)
        case "pyproject.toml":
            yield from _python_project(text)
        case "noxfile.py":
            yield from _nox_sessions(text)
        case "pytest.ini":
            yield "pytest"
        case "Makefile" as name:
            targets = _MAKE_TARGET.findall(text)
            yield from (f"make {target}" for target in targets)
            yield from _lines(text) if not targets else ()
            del name
        case _:
            yield from _lines(text)


def _lines(text: str) -> Iterator[str]:
    """Yield the commands in a text's lines that call a runner."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        bare = _MARKS.sub("", line).strip().strip("\"'")
        for command in _COMMAND_ENDS.split(bare):
            if _RUNNER.match(command):
                yield command


def _node_scripts(text: str) -> Iterator[str]:
    with suppress(ValueError):
        package = json.loads(text)
        scripts = package.get("scripts") if isinstance(package, dict) else None
        test = scripts.get("test") if isinstance(scripts, dict) else None
        if isinstance(test, str) and "no test specified" not in test:
            yield f"npm test (runs: {test})"


def _nox_sessions(text: str) -> Iterator[str]:
    for arguments in _SESSION_RUN.findall(text):
        command = " ".join(_STRING.findall(arguments))
        if _RUNNER.match(command):
            yield f"nox (runs: {command})"


def _python_project(text: str) -> Iterator[str]:
    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return
    if not isinstance(tool, dict):
        return
    pytest = tool.get("pytest")
    settings = pytest.get("ini_options") if isinstance(pytest, dict) else None
    if isinstance(settings, dict):
        named = (
            f"{key} = {settings[key]}" for key in _PYTEST_SETTINGS if key in settings
        )
        known = ", ".join(named)
        yield f"pytest ({known})" if known else "pytest"
    yield from _test_scripts(tool)


def _test_scripts(tool: Mapping[str, object]) -> Iterator[str]:
    """Yield the scripts called `test` of Hatch, PDM, Poe and the like."""
    for name, value in tool.items():
        if not isinstance(value, dict):
            continue
        script = value.get("test") if name in ("scripts", "tasks") else None
        if isinstance(script, str):
            yield script
        elif script is None:
            yield from _test_scripts(value)
