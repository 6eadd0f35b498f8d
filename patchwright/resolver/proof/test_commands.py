"""Find commands that run given test files, or all tests, by what the files tell."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Final, Literal

from patchwright.integrations.git.changes import is_test
from patchwright.resolver.proof.runner_calls import TestCall
from patchwright.resolver.proof.runners import RunnerKind

_Language = Literal["python", "script", "go", "rust", "ruby", "php", "java"]
_LANGUAGES: Final[Mapping[str, _Language]] = {
    ".py": "python",
    **dict.fromkeys(
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), "script"
    ),
    ".go": "go",
    ".rs": "rust",
    ".rb": "ruby",
    ".php": "php",
    **dict.fromkeys((".java", ".kt", ".groovy", ".scala"), "java"),
}
# The files beside which tests of a language are started.
_ROOTS: Final[Mapping[_Language, tuple[str, ...]]] = {
    "python": (
        *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini"),
        "manage.py",
    ),
    "script": ("package.json",),
    "go": ("go.mod",),
    "rust": ("Cargo.toml",),
    "ruby": ("Gemfile", "Rakefile", ".rspec"),
    "php": ("composer.json", "phpunit.xml", "phpunit.xml.dist"),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts"),
}
_TESTS_INSIDE: Final = re.compile(
    r"^\s*(?:async )?def test|\bTestCase\b|^\s*class Test\w*", re.MULTILINE
)
_OF_PYTEST: Final = re.compile(
    r"^\s*(?:import|from) pytest\b|^(?:async )?def test", re.MULTILINE
)
_OF_NODE: Final = re.compile(r"[\"']node:test[\"']")
_MOST_FILES: Final = 200


@dataclass(frozen=True)
class TestTree:
    """The files of a repository, as far as they tell how its tests are run.

    `paths` are all of them, `texts` the test files and the configuration files by their
    paths.
    """

    __test__ = False

    paths: frozenset[str]
    texts: Mapping[str, str]

    def root_of(self, path: str, language: _Language) -> str:
        """Return the nearest folder from which the tests of a file are started."""
        for folder in PurePosixPath(path).parents:
            for name in _ROOTS[language]:
                if str(folder / name) in self.paths:
                    return "" if str(folder) == "." else str(folder)
        return ""

    def text(self, *parts: str) -> str:
        return self.texts.get(str(PurePosixPath(*parts)), "")

    def has(self, *parts: str) -> bool:
        return str(PurePosixPath(*parts)) in self.paths

    def holds_tests(self, *parts: str) -> bool:
        """Tell whether a test file is more than a helper, which only Python tells."""
        is_python = parts[-1].endswith(".py")
        return not is_python or _TESTS_INSIDE.search(self.text(*parts)) is not None


@dataclass(frozen=True)
class TestGroup:
    """Test files of one language that are started from one folder.

    Of the `commands`, the first counts whose runner is there.
    """

    __test__ = False

    language: str
    root: str
    files: tuple[str, ...]
    commands: tuple[str, ...]


CONFIGURATIONS: Final = (
    *("package.json", "pyproject.toml", "setup.cfg", "tox.ini", "composer.json"),
)


def is_test_code(path: str) -> bool:
    """Tell whether a file may hold tests that a runner here can be started with."""
    return is_test(path) and PurePosixPath(path).suffix in _LANGUAGES


def language_of(path: str) -> str:
    """Return the language of a file by its ending, or an empty string."""
    return _LANGUAGES.get(PurePosixPath(path).suffix, "")


def language_of_runner(runner: RunnerKind) -> str:
    """Return the language whose tests a runner runs, empty where it may run any."""
    return _OF_RUNNERS[runner]


_OF_RUNNERS: Final[Mapping[RunnerKind, _Language | Literal[""]]] = {
    RunnerKind.PYTEST: "python",
    RunnerKind.UNITTEST: "python",
    RunnerKind.NODE: "script",
    RunnerKind.JEST: "script",
    RunnerKind.VITEST: "script",
    RunnerKind.MOCHA: "script",
    RunnerKind.GO: "go",
    RunnerKind.CARGO: "rust",
    RunnerKind.RSPEC: "ruby",
    RunnerKind.MINITEST: "ruby",
    RunnerKind.PHPUNIT: "php",
    RunnerKind.MAVEN: "java",
    RunnerKind.GRADLE: "java",
    RunnerKind.DOTNET: "",
    RunnerKind.CTEST: "",
    RunnerKind.PROVE: "",
    RunnerKind.SCRIPT: "",
}


def groups_for_files(tree: TestTree, files: Sequence[str]) -> tuple[TestGroup, ...]:
    """Return commands that run these test files, by kind and place of the tests."""
    return tuple(_grouped(tree, files, _FOR_FILES))


def groups_for_all(tree: TestTree, files: Sequence[str]) -> tuple[TestGroup, ...]:
    """Return commands that run all tests around these test files."""
    return tuple(_grouped(tree, files, _FOR_ALL))


_Files = Sequence[str]
_Maker = Callable[[TestTree, str, _Files], Sequence[str]]


def _grouped(
    tree: TestTree, files: _Files, makers: Mapping[_Language, _Maker]
) -> Iterator[TestGroup]:
    def key(path: str) -> tuple[_Language, str]:
        language = _LANGUAGES[PurePosixPath(path).suffix]
        return language, tree.root_of(path, language)

    for (language, root), group in groupby(sorted(sorted(files), key=key), key):
        own = tuple(group)
        inside = [str(PurePosixPath(path).relative_to(root or ".")) for path in own]
        enter = f"cd {shlex.quote(root)} && " if root else ""
        made = makers[language](tree, root, inside[:_MOST_FILES])
        if made:
            commands = tuple(f"{enter}{command}" for command in dict.fromkeys(made))
            yield TestGroup(language, root, own, commands)


def _python_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    own = [path for path in files if tree.holds_tests(root, path)]
    if not own:
        return ()
    named = shlex.join(own)
    pytest = f"python3 -m pytest {named}"
    unittest = f"python3 -m unittest {named}"
    if tree.has(root, "manage.py"):
        modules = shlex.join(path.removesuffix(".py").replace("/", ".") for path in own)
        return (pytest, f"python3 manage.py test {modules}")
    return _by_habit(tree, root, own, pytest, unittest)


def _all_python(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    own = [path for path in files if tree.holds_tests(root, path)]
    if not own:
        return ()
    pytest = "python3 -m pytest"
    if tree.has(root, "manage.py"):
        return (pytest, "python3 manage.py test")
    unittest = f"python3 -m unittest {shlex.join(own)}"
    return _by_habit(tree, root, own, pytest, unittest)


def _by_habit(
    tree: TestTree, root: str, files: _Files, pytest: str, unittest: str
) -> Sequence[str]:
    """Prefer unittest only where nothing speaks for pytest, which runs both."""
    texts = [tree.text(root, path) for path in files]
    if any(map(_OF_PYTEST.search, texts)):
        return (pytest,)
    configured = tree.has(root, "pytest.ini") or any(
        "pytest" in tree.text(root, name)
        for name in ("pyproject.toml", "setup.cfg", "tox.ini")
    )
    return (pytest, unittest) if configured else (unittest, pytest)


def _script_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    named = shlex.join(f"./{path}" for path in files)
    known = _script_runner(tree, root)
    of_node = all(_OF_NODE.search(tree.text(root, path)) for path in files)
    if of_node and known is None:
        return (f"node --test {named}",)
    return (f"npx --no-install {known} {named}",) if known else _npm_test(tree, root)


def _all_scripts(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    own = _npm_test(tree, root)
    if own:
        return own
    known = _script_runner(tree, root)
    if known:
        return (f"npx --no-install {known}",)
    named = [path for path in files if _OF_NODE.search(tree.text(root, path))]
    return (
        (f"node --test {shlex.join(f'./{path}' for path in named)}",) if named else ()
    )


def _script_runner(tree: TestTree, root: str) -> str | None:
    text = tree.text(root, "package.json")
    calls = {"vitest": "vitest run", "jest": "jest", "mocha": "mocha"}
    return next((call for name, call in calls.items() if f'"{name}"' in text), None)


def _npm_test(tree: TestTree, root: str) -> Sequence[str]:
    try:
        read = json.loads(tree.text(root, "package.json") or "{}")
    except (ValueError, RecursionError):
        return ()
    scripts = read.get("scripts") if isinstance(read, dict) else None
    return ("npm test",) if isinstance(scripts, dict) and scripts.get("test") else ()


def _go_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    del tree, root
    packages = {f"./{PurePosixPath(path).parent}" for path in files}
    return (f"go test {shlex.join(sorted(packages))}",)


def _rust_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    del tree, root
    whole = [PurePosixPath(path) for path in files]
    if all(str(path.parent) == "tests" for path in whole):
        return ("cargo test " + " ".join(f"--test {path.stem}" for path in whole),)
    return ("cargo test",)


def _ruby_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    enter = "bundle exec " if tree.has(root, "Gemfile") else ""
    specs = [path for path in files if path.endswith("_spec.rb")]
    if specs:
        return (f"{enter}rspec {shlex.join(specs)}", f"rspec {shlex.join(specs)}")
    return tuple(f"{enter}ruby -Ilib -Itest {shlex.quote(path)}" for path in files[:1])


def _all_ruby(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    enter = "bundle exec " if tree.has(root, "Gemfile") else ""
    if any(path.endswith("_spec.rb") for path in files):
        return (f"{enter}rspec", "rspec")
    return (f"{enter}rake test",) if tree.has(root, "Rakefile") else ()


def _php_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    del tree, root
    named = shlex.join(files)
    return (f"vendor/bin/phpunit {named}", f"phpunit {named}")


def _java_files(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    names = [PurePosixPath(path).stem for path in files]
    if tree.has(root, "pom.xml"):
        return (f"mvn -q test -Dtest={','.join(names)}",)
    wanted = " ".join(f"--tests '*{name}'" for name in names)
    return tuple(f"{gradle} test {wanted}" for gradle in _gradles(tree, root))


def _all_java(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
    del files
    if tree.has(root, "pom.xml"):
        return ("mvn -q test",)
    return tuple(f"{gradle} test" for gradle in _gradles(tree, root))


def _gradles(tree: TestTree, root: str) -> Sequence[str]:
    return ("./gradlew", "gradle") if tree.has(root, "gradlew") else ("gradle",)


def _always(*commands: str) -> _Maker:
    def make(tree: TestTree, root: str, files: _Files) -> Sequence[str]:
        del tree, root, files
        return commands

    return make


_FOR_FILES: Final[Mapping[_Language, _Maker]] = {
    "python": _python_files,
    "script": _script_files,
    "go": _go_files,
    "rust": _rust_files,
    "ruby": _ruby_files,
    "php": _php_files,
    "java": _java_files,
}
_FOR_ALL: Final[Mapping[_Language, _Maker]] = {
    "python": _all_python,
    "script": _all_scripts,
    "go": _always("go test ./..."),
    "rust": _always("cargo test"),
    "ruby": _all_ruby,
    "php": _always("vendor/bin/phpunit", "phpunit"),
    "java": _all_java,
}


def for_files(call: TestCall, files: Sequence[str]) -> str | None:
    """Return the command that runs these test files, in the way of such a call.

    None where the runner takes no files, or none of them is where it starts.
    """
    inside = [one for path in files if (one := _inside(call, path)) is not None]
    if not inside or not _takes_files(call):
        return None
    return f"{call.prefix} {shlex.join(inside)}"


def _takes_files(call: TestCall) -> bool:
    if call.runner is RunnerKind.UNITTEST:
        return call.prefix.endswith("unittest")
    return call.runner in (
        *(RunnerKind.PYTEST, RunnerKind.JEST, RunnerKind.VITEST, RunnerKind.MOCHA),
        *(RunnerKind.NODE, RunnerKind.RSPEC),
    )


def _inside(call: TestCall, path: str) -> str | None:
    """Return a path as it is seen from where the call starts."""
    if call.folder is None:
        return None
    if not call.folder:
        return path
    below = PurePosixPath(path)
    folder = PurePosixPath(call.folder)
    return str(below.relative_to(folder)) if folder in below.parents else None
