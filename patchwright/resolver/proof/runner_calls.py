"""Know the test runners, the commands that call them, and the scripts that do."""

import json
import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.changes import is_test
from patchwright.resolver.proof.runners import RunnerKind


@dataclass(frozen=True)
class TestCall:
    """A call of a runner. `programs` are the files that it runs by their paths."""

    __test__ = False

    runner: RunnerKind
    programs: tuple[str, ...] = ()


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
    *(("npx",), ("xvfb-run",), ("env",), ("time",), ("coverage", "run", "-m")),
)
# These may only prepare what the runner needs, or look whether it is there. What they
# run of the repository is read where its scripts are.
_PREPARING: Final = re.compile(
    r"(?:cd|test|\[|export|pip3?|(?:python3? -m |uv )pip|uv (?:sync|venv|lock|add)"
    r"|(?:npm|pnpm) (?:ci|i|install|add|run (?:build|compile|generate|bundle)[\w:-]*)"
    r"|yarn(?: (?:install|add|build|compile|generate)|$)"
    r"|bundle (?:install|config|check)|composer (?:install|update|dump-autoload)"
    r"|poetry (?:install|lock|sync|config)|go (?:mod|build|generate)"
    r"|cargo (?:build|fetch)|dotnet (?:restore|build))(?: |$)|cmake (?!-[PE]\b)"
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
        (program, word): RunnerKind.SCRIPT
        for program in ("npm", "yarn", "pnpm", "composer")
        for word in ("test", "t", "run")
    },
}
_MODULES: Final = {
    "pytest": RunnerKind.PYTEST,
    "unittest": RunnerKind.UNITTEST,
    "nose2": RunnerKind.UNITTEST,
    "tox": RunnerKind.SCRIPT,
    "nox": RunnerKind.SCRIPT,
}
# Where a test's report goes, and what is run before it, is not for the command to say.
_REFUSED_OPTIONS: Final = re.compile(
    r"-[hlqsvxV]*[cop](?!no:).*|@.+|--(?:config-file|override-ini|rootdir|confcutdir"
    r"|junit-?xml|co|collect-only|passWithNoTests|pass-with-no-tests|require|import"
    r"|reporters?|config|setupFiles\w*|exec|no-run|dry-run|list)(?:=.*)?"
)
# Pytest's own; elsewhere these letters mean something else. They may stand behind
# others that take no value, and a file may hold further ones.
_OF_PYTEST: Final = re.compile(r"-[hlqsvxV]*[cop].*|@.*")
# Those with which tools are told what to run, or to run something first.
_REFUSED_VARIABLES: Final = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|ENV|BASH_ENV|IFS|SHELL|PYTHON(?!PATH|DONTWRITE|UNBUFF|WARN|UTF8"
    r"|HASHSEED|ASYNCIO)\w*|PYTEST_\w+|NODE_(?:OPTIONS|PATH)|RUBY(?:OPT|LIB)|PERL5\w+"
    r"|GO(?:FLAGS|ROOT|PROXY|WORK|BIN)|MAVEN_\w+|\w*JAVA_\w+|MAKE\w+|HOME|PATCHWRIGHT_\w+"
    r"|(?i:npm_\w+|yarn_\w+|pnpm_\w+|cargo_\w+|rustc\w*|rustdoc\w*)|SPEC_OPTS"
    r"|(?:TEST|RAKE)\w*OPTS?|HARNESS_\w+|PROVE\w+|PHP\w+|BUNDLE_\w+|GEM_\w+|(?:UV|POETRY"
    r"|PIP|PIPENV|PDM|HATCH|TOX|NOX|COVERAGE|VSTEST|DOTNET|MVN|GRADLE|CTEST|CMAKE|JEST"
    r"|VITEST|MOCHA|C8|NYC|TS_NODE|COMPOSER|GIT)_\w+|VIRTUAL_ENV|CC|CXX|AR"
)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=")
_PUNCTUATION: Final = "();<>|&"


def read_call(command: str) -> TestCall | None:
    """Return the runner that a command calls, or None if it may do anything else."""
    if re.search(r"[`\n\r\\!]|\$(?!PWD\b|PYTHONPATH\b)|(?:^|\s)#", command):
        return None
    parts = _split_chain(command)
    if not parts or not all(_prepares(words) for words in parts[:-1]):
        return None
    return _runner_of(_without_launchers(parts[-1]))


def with_python_path(command: str) -> str:
    """Let a command add to PYTHONPATH, which leads to our recorder, not replace it."""
    return re.sub(r"(?<!\S)PYTHONPATH=", 'PYTHONPATH="$PYTHONPATH":', command)


def _split_chain(command: str) -> list[list[str]]:
    """Return the words of each part of an `a && b` chain; nothing if it is no such."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace_split = True
    lexer.commenters = ""
    parts: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word == "&&":
                parts.append([])
            elif word and set(word) <= set(_PUNCTUATION):
                return []
            else:
                parts[-1].append(word)
    except ValueError:  # a quotation is open
        return []
    return parts if all(parts) else []


def _prepares(words: Sequence[str]) -> bool:
    assigned = words[1:] if words[0] == "export" else ()
    return bool(_PREPARING.match(" ".join(words))) and not any(
        map(_sets_refused_variable, assigned)
    )


def _sets_refused_variable(word: str) -> bool:
    found = _ASSIGNMENT.match(word)
    return found is not None and _REFUSED_VARIABLES.fullmatch(found[1]) is not None


def _without_launchers(words: Sequence[str]) -> Sequence[str]:
    """Strip assignments and programs that only start another; nothing if in doubt."""
    while words:
        if _ASSIGNMENT.match(words[0]):
            if _sets_refused_variable(words[0]):
                return ()
            words = words[1:]
            continue
        if words[0] == "timeout" and len(words) > 1:
            words = words[2:]
            continue
        launcher = next(
            (one for one in _LAUNCHERS if tuple(words[: len(one)]) == one), None
        )
        if launcher is None:
            return words
        # `coverage run -m` is followed by a module, as with Python.
        is_python = launcher[-1] == "-m"
        words = ["python", "-m", *words[3:]] if is_python else words[len(launcher) :]
    return words


def _runner_of(words: Sequence[str]) -> TestCall | None:
    if not words:
        return None
    wrapper = _WRAPPERS.fullmatch(words[0])
    tool = _TOOLS.fullmatch(words[0])
    if not wrapper and not tool:
        return None
    name = wrapper[1] if wrapper else tool[1] if tool else ""
    runner = _runner_by_name(name, list(words[1:]))
    if runner is None or _has_refused_option(runner, words[1:]):
        return None
    # An interpreter is told which file to run; tests are looked at elsewhere.
    named = words[:2] if _INTERPRETER.fullmatch(name) else words[:1]
    paths = (word for word in named if "/" in word or word.endswith(_SOURCES))
    return TestCall(runner, tuple(path for path in paths if not is_test(path)))


def _has_refused_option(runner: RunnerKind, words: Sequence[str]) -> bool:
    def refused(at: int, word: str) -> bool:
        if not _REFUSED_OPTIONS.fullmatch(word):
            return False
        if not _OF_PYTEST.fullmatch(word):
            return True
        plain = word == "-p" and at + 1 < len(words) and words[at + 1].startswith("no:")
        return runner is RunnerKind.PYTEST and not plain

    return any(refused(at, word) for at, word in enumerate(words))


def _runner_by_name(name: str, words: list[str]) -> RunnerKind | None:
    if _PYTHON.fullmatch(name):
        return _python_runner(words)
    if name == "node":
        return RunnerKind.NODE if "--test" in words[:1] else None
    if name == "ruby":
        return RunnerKind.MINITEST if words and is_test(words[-1]) else None
    if name == "php" and words:
        found = _TOOLS.fullmatch(words[0])
        return RunnerKind.PHPUNIT if found and found[1] == "phpunit" else None
    if name in _PLAIN:
        return _PLAIN[name]
    # Options may come first, as in `mvn -q test`.
    bare = [word for word in words if not word.startswith(("-", "+"))]
    return _WITH_WORD.get((name, bare[0])) if bare else None


def _python_runner(words: list[str]) -> RunnerKind | None:
    while words and re.fullmatch(r"-[BbuvqEsO]+|-[WX].*", words[0]):
        words = words[2:] if words[0] in ("-W", "-X") else words[1:]
    match words:
        case ["-m", module, *_]:
            return _MODULES.get(module)
        case [file, "test", *_] if PurePosixPath(file).name == "manage.py":
            return RunnerKind.UNITTEST
        case [file, *_] if file.endswith(".py") and is_test(file):
            return RunnerKind.UNITTEST
        case _:
            return None


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
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    scripts = read.get("scripts") if isinstance(read, dict) else None
    named = scripts if isinstance(scripts, dict) else {}
    return "\n".join(str(named[name]) for name in reachable_scripts(named, words))


def reachable_scripts(
    scripts: Mapping[str, object], words: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the scripts that these words call, directly or not."""
    waiting = [*words, *(["test"] if {"t", "tst"} & {*words} else [])]
    found: list[str] = []
    while waiting:
        word = waiting.pop()
        for name in (word, f"pre{word}", f"post{word}"):
            if name in scripts and name not in found:
                found.append(name)
                waiting += _WORD.findall(str(scripts[name]))
    return tuple(sorted(found))
