"""State what a sandbox has to run a repository's tests with: ask, read, write down."""

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.text.escape import as_data, inline_code
from patchwright.core.text.hidden import TextCleaner
from patchwright.core.types.base import Value
from patchwright.resolver.context.test_starts import TestStart

HEADING: Final = "Facts about this sandbox, found before your first step:"
MAX_FACTS_CHARS: Final = 1_500
_MOST_MODULES: Final = 3
_MOST_ERROR_CHARS: Final = 160
_MARK: Final = "fact"
_MODULE: Final = re.compile(r"[A-Za-z_]\w*")
# Packages at the top of a repository that are not what it is about.
_SIDE_FOLDERS: Final = frozenset(
    (
        *("test", "tests", "testing", "docs", "doc", "example", "examples", "samples"),
        *("script", "scripts", "tool", "tools", "bench", "benchmark", "benchmarks"),
        *("ci", "build", "dist", "migrations"),
    )
)


class EcosystemProbe(Value):
    """A language with its tools: the files that show its use, and what to look for.

    `asks` are programs that print their version in a moment.
    """

    name: str
    marks: tuple[str, ...]
    asks: tuple[tuple[str, ...], ...] = ()
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


ECOSYSTEMS: Final = (
    EcosystemProbe(
        name="python",
        marks=("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "*.py"),
        programs=("pytest", "tox", "nox", "pip", "uv", "poetry", "pdm", "hatch"),
    ),
    EcosystemProbe(
        name="node",
        marks=("package.json",),
        asks=(("node", "--version"),),
        programs=("npm", "pnpm", "yarn", "bun"),
        files=tuple(
            f"node_modules/.bin/{one}" for one in ("jest", "vitest", "mocha", "ava")
        ),
    ),
    EcosystemProbe(name="go", marks=("go.mod",), asks=(("go", "version"),)),
    EcosystemProbe(name="rust", marks=("Cargo.toml",), asks=(("cargo", "--version"),)),
    EcosystemProbe(
        name="java",
        marks=("pom.xml", "build.gradle", "build.gradle.kts"),
        programs=("java", "mvn", "gradle"),
        files=("mvnw", "gradlew"),
    ),
    EcosystemProbe(
        name="ruby",
        marks=("Gemfile", "*.gemspec"),
        asks=(("ruby", "--version"),),
        programs=("bundle", "rspec", "rake"),
    ),
    EcosystemProbe(
        name="php",
        marks=("composer.json",),
        programs=("php", "composer", "phpunit"),
        files=("vendor/bin/phpunit",),
    ),
    EcosystemProbe(
        name="cmake", marks=("CMakeLists.txt",), programs=("cmake", "ctest", "ninja")
    ),
    EcosystemProbe(name="make", marks=("Makefile",), programs=("make",)),
)


class Project(Value):
    """What a repository's own files say: its ecosystems, packages and test commands."""

    ecosystems: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    starts: tuple[TestStart, ...] = ()


class ProgramFact(Value):
    """A program that is there, with its version if that was asked."""

    name: str
    version: str = ""


class ModuleFact(Value):
    """A Python module that was imported: from where, or with which error.

    `version` is that of a test runner.
    """

    name: str
    path: str = ""
    error: str = ""
    version: str = ""


class SandboxFacts(Value):
    """What a sandbox has; what was not found, or not asked, is empty.

    `runners` are modules that run Python's tests, `modules` the repository's packages.
    """

    python: str = ""
    python_path: str = ""
    is_virtual: bool = False
    runners: tuple[ModuleFact, ...] = ()
    modules: tuple[ModuleFact, ...] = ()
    programs: tuple[ProgramFact, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def has_pytest(self) -> bool:
        return any(one.name == "pytest" and not one.error for one in self.runners)


def find_project(
    paths: Sequence[str], pyproject: str, starts: Sequence[TestStart] = ()
) -> Project:
    """Return what is known of a repository from the paths of its files."""
    top = {path for path in paths if "/" not in path}
    found = [
        one.name
        for one in ECOSYSTEMS
        if any(PurePosixPath(name).match(mark) for mark in one.marks for name in top)
    ]
    return Project(
        ecosystems=tuple(found),
        modules=tuple(_find_modules(paths, pyproject))[:_MOST_MODULES],
        starts=tuple(starts),
    )


def _find_modules(paths: Sequence[str], pyproject: str) -> list[str]:
    """Return the packages at the top or in `src`, that of the project's name first."""
    folders = [path.split("/") for path in paths if path.endswith("/__init__.py")]
    in_source = {one[1] for one in folders if one[0] == "src" and len(one) == 3}  # noqa: PLR2004 - src/NAME/__init__.py
    at_top = {one[0] for one in folders if len(one) == 2}  # noqa: PLR2004 - NAME/__init__.py
    found = in_source or at_top - _SIDE_FOLDERS
    named = ""
    with suppress(tomllib.TOMLDecodeError):
        project = tomllib.loads(pyproject).get("project", {})
        named = str(project.get("name", "")) if isinstance(project, dict) else ""
    own = re.sub(r"[-.]+", "_", named).lower()
    fitting = sorted(one for one in found if _MODULE.fullmatch(one))
    return sorted(fitting, key=lambda name: name.lower() != own)


# Imports in a process of its own: what the packages print goes nowhere.
_PYTHON: Final = r"""
import os, sys
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def say(*words):
    line = "\t".join(str(w).replace("\t", " ").replace("\n", " ")[:300] for w in words)
    out.write("fact\t" + line + "\n")
    out.flush()
is_virtual = sys.prefix != sys.base_prefix or os.path.isdir(sys.prefix + "/conda-meta")
say("python", "%d.%d.%d" % sys.version_info[:3], sys.executable, int(is_virtual))
import importlib
def load(kind, name):
    try:
        module = importlib.import_module(name)
        path = getattr(module, "__file__", "") or ""
        say(kind, name, path, "", getattr(module, "__version__", ""))
    except BaseException as error:
        if kind == "module" or not isinstance(error, ImportError) or error.name != name:
            say(kind, name, "", type(error).__name__ + ": " + str(error), "")
load("runner", "pytest")
for name in sys.argv[1:]:
    load("module", name)
"""


def probe_script(project: Project) -> str:
    """Return a script for POSIX sh that prints a line for each fact.

    It needs no other program; what is missing prints nothing.
    """
    wanted = [one for one in ECOSYSTEMS if one.name in project.ecosystems]
    lines = [
        'say() { printf \'fact\\t%s\\t%s\\t%s\\n\' "$1" "$2" "$3"; }',
        'has() { command -v "$1" >/dev/null 2>&1; }',
    ]
    for one in wanted:
        lines += [
            f'has {words[0]} && say program {words[0]} "$({shlex.join(words)} 2>&1)"'
            for words in one.asks
        ]
        lines += [
            f"for p in {' '.join(one.programs)}; do has $p && say program $p; done"
        ] * bool(one.programs)
        lines += [
            f"for f in {' '.join(one.files)}; do [ -x $f ] && say file $f; done"
        ] * bool(one.files)
    if "python" in project.ecosystems:
        modules = shlex.join(one for one in project.modules if _MODULE.fullmatch(one))
        code = shlex.quote(_PYTHON)
        lines += [
            "for p in python3 python; do",
            f"has $p && {{ $p -B -c {code} {modules} 2>/dev/null; break; }}",
            "done",
        ]
    return "\n".join([*lines, "true"])


def read_facts(output: str) -> SandboxFacts:
    """Read what the script has printed; lines of others are passed over."""
    found = [line.split("\t") for line in output.splitlines()]
    facts = [words[1:] for words in found if words[0] == _MARK and len(words) > 2]  # noqa: PLR2004 - a kind, and of what
    python = next((one[1:] for one in facts if one[0] == "python"), [])
    version, path, is_virtual = [*python, "", "", ""][:3]
    return SandboxFacts(
        python=version,
        python_path=path,
        is_virtual=is_virtual == "1",
        runners=tuple(_modules(facts, "runner")),
        modules=tuple(_modules(facts, "module")),
        programs=tuple(_programs(facts)),
        files=tuple(one[1] for one in facts if one[0] == "file"),
    )


def _modules(facts: Iterable[list[str]], kind: str) -> Iterator[ModuleFact]:
    for words in facts:
        if words[0] == kind:
            name, path, error, version = [*words[1:], "", "", "", ""][:4]
            yield ModuleFact(name=name, path=path, error=error, version=version)


def _programs(facts: Iterable[list[str]]) -> Iterator[ProgramFact]:
    for words in facts:
        if words[0] == "program":
            name, said = [*words[1:], "", ""][:2]
            number = re.search(r"\d+(?:\.\d+)+", said)
            yield ProgramFact(name=name, version=number[0] if number else "")


def facts_text(
    facts: SandboxFacts, project: Project, own: Sequence[str] = (), checkout: str = ""
) -> str:
    """Write the facts for the agent; empty if there are none.

    `own` are the user's own folders that the sandbox shows, `checkout` is where else
    it shows its clone.
    """
    lines = [
        *_python_lines(facts, checkout),
        *_program_lines(facts, project),
        *_own_lines(own, checkout),
    ]
    parts = ["\n".join([HEADING, *(f"- {line}" for line in lines)])] if lines else []
    if project.starts:
        if not parts:
            parts.append(HEADING)
        parts.append(_starts_text(project.starts, MAX_FACTS_CHARS - len(parts[0])))
    return "\n\n".join(part for part in parts if part)


def _python_lines(facts: SandboxFacts, checkout: str) -> Iterator[str]:
    if not facts.python:
        return
    kind = " (a virtual environment)" if facts.is_virtual else ""
    yield f"Python {_word(facts.python)} at {_code(facts.python_path)}{kind}."
    for one in facts.runners:
        if one.error:
            yield f"`{one.name}` is there, but fails: {_code(one.error)}."
        else:
            yield f"{one.name} {_word(one.version)} works."
    if not facts.runners:
        yield "It has no pytest; `python3 -m unittest` works."
    for one in facts.modules:
        yield _module_line(one, checkout)


def _module_line(one: ModuleFact, checkout: str) -> str:
    name = inline_code(one.name)
    if one.error:
        return f"The package {name} does not import: {_code(one.error)}."
    roots = ("/workspace/repo/", f"{checkout}/" if checkout else "/workspace/repo/")
    if one.path and not one.path.startswith(roots):
        return (
            f"The package {name} imports from {_code(one.path)}, which is not this "
            "repository: tests may run on that code instead of yours."
        )
    return f"The package {name} imports."


def _program_lines(facts: SandboxFacts, project: Project) -> Iterator[str]:
    named = [f"{one.name} {_word(one.version)}".strip() for one in facts.programs]
    named += facts.files
    if named:
        yield f"Also there: {', '.join(named)}."
    there = {one.name for one in facts.programs}
    needed = {"node": "node", "go": "go", "rust": "cargo", "ruby": "ruby", "php": "php"}
    missing = [
        needed[name]
        for name in project.ecosystems
        if name in needed and needed[name] not in there
    ]
    if missing:
        yield f"Not there: {', '.join(missing)}."


def _own_lines(own: Sequence[str], checkout: str) -> Iterator[str]:
    if own:
        names = ", ".join(_code(one) for one in own[:8])
        yield f"The user's own, read-only (nothing can be installed there): {names}."
    if checkout:
        yield f"{_code(checkout)} is `/workspace/repo` too."


def _starts_text(starts: Sequence[TestStart], most_chars: int) -> str:
    cleaner = TextCleaner()
    lines: list[str] = []
    for one in starts:
        line = f"{cleaner.clean_name(one.file)}: {cleaner.clean_name(one.command)}"
        if sum(map(len, lines)) + len(line) > most_chars - 250:
            break
        lines.append(line)
    if not lines:
        return ""
    data = as_data("test commands", "the repository", "\n".join(lines))
    return f"How the repository's own files start its tests (information):\n{data}"


def _word(text: str) -> str:
    """Return a version; anything else in its place is left out."""
    return text if re.fullmatch(r"[\w.+-]{1,40}", text) else ""


def _code(text: str) -> str:
    return inline_code(text[:_MOST_ERROR_CHARS])


def texts_of(contents: Mapping[str, object]) -> dict[str, str]:
    """Return the texts of files that could be read."""
    return {
        path: content.decode("utf-8", "replace")
        for path, content in contents.items()
        if isinstance(content, bytes)
    }
