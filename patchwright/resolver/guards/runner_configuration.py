"""Know the files that say which tests are run, and how."""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import JsonValue

from patchwright.resolver.guards.changed_files import FileVersions, matches

_CI: Final = (
    "/.github/workflows/**",
    "/.github/actions/**",
    "/.gitlab-ci.yml",
    "/.gitlab/ci/**",
    "/.circleci/**",
    "/.buildkite/**",
    "/.travis.yml",
    "/.drone.yml",
    "/.woodpecker*",
    "/.cirrus.yml",
    "/appveyor.yml",
    "/azure-pipelines*",
    "/bitbucket-pipelines.yml",
    "/cloudbuild.y*ml",
    "Jenkinsfile*",
)
_TESTING: Final = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py"),
    *("pytest.toml", ".pytest.toml", "nose2.cfg", "unittest.cfg"),
    *(".coveragerc", ".codecov.y*ml", "codecov.y*ml", ".nycrc*"),
    *("jest.config.*", "vitest.config.*", "vitest.workspace.*", "karma.conf.*"),
    *(".mocharc*", "playwright.config.*", "cypress.config.*", "ava.config.*"),
    *("vite.config.*", "jest.setup.*", "jest-setup.*", "vitest.setup.*"),
    *("setupTests.*", "babel.config.*", ".babelrc*", ".swcrc"),
    *("spec_helper.rb", "rails_helper.rb", "test_helper.rb", "*.rake"),
    *("phpunit.xml*", ".rspec", "nextest.toml", ".proverc", "CTestCustom.cmake"),
    *("*.runsettings", "xunit.runner.json", "Directory.Build.*"),
    # What a package manager runs first, or in place of a program.
    *(".npmrc", ".yarnrc*", ".pnp.*", ".pnpmfile.cjs", "/node_modules/**"),
    *("**/.cargo/config", "**/.cargo/config.toml", ".mvn/**", ".bundle/**"),
    # What a command for tests goes through.
    *("Makefile", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile"),
    *("Taskfile.y*ml", "Rakefile"),
    # What Python imports by itself, or in place of a test runner.
    *("sitecustomize.py", "usercustomize.py", "*.pth", "pytest.py", "unittest.py"),
    *("nose2.py", "_pytest", "/pytest/**", "/unittest/**", "/src/pytest/**"),
    *(f"**/{name}/__init__.py" for name in ("pytest", "unittest", "nose2")),
    *(f"**/{name}/__main__.py" for name in ("pytest", "unittest", "nose2")),
)
_PARTS_OF_TOML: Final = (
    *("pytest", "coverage", "tox", "nox", "hatch", "nose2", "poe", "taskipy"),
)
_OF_CTEST: Final = re.compile(
    r"add_test|set_tests_properties|WILL_FAIL|_REGULAR_EXPRESSION|SKIP_RETURN_CODE"
    r"|discover_tests|enable_testing|include\s*\(\s*CTest",
    re.IGNORECASE,
)
_OF_JVM_TESTS: Final = re.compile(
    r"surefire|failsafe|argLine|<(?:skip|include|exclude|group|test|parallel|listener)"
    r"|[sS]kipTests|[tT]est[.\w]{0,40}[fF]ailure|useJUnit|ignoreFailures|\btest\b|jvmArgs"
    r"|systemProp"
)
# What npm runs by itself when it installs.
_INSTALLING: Final = ("install", "prepare", "prepublish")
_PARTS_OF_PACKAGE: Final = ("jest", "vitest", "mocha", "ava", "nyc", "c8")
_WORD: Final = re.compile(r"[\w:.@/-]+")


def is_ci(path: str) -> bool:
    """Say whether a file tells a CI service what to run."""
    return any(matches(path, pattern) for pattern in _CI)


def changes_test_configuration(version: FileVersions) -> bool:
    """Say whether a change has to do with how tests are run.

    A file for many things counts only where that part of it changed; one that cannot
    be read counts.
    """
    paths = (version.change.path, version.change.old_path)
    if any(path and matches(path, rule) for path in paths for rule in _TESTING):
        return True
    name = PurePosixPath(version.change.path).name.lower()
    parts = _PARTS_OF.get(name)
    if parts is None:
        return False
    try:
        return parts(version.before or "") != parts(version.after or "")
    except (ValueError, RecursionError, configparser.Error):
        return version.before != version.after


def _parts_of_toml(text: str) -> Mapping[str, object]:
    read = tomllib.loads(text)
    tools = _table(read, "tool")
    return {
        **{name: tools[name] for name in _PARTS_OF_TOML if name in tools},
        "entry points": _table(read, "project").get("entry-points"),
        "plugins": _table(tools, "poetry").get("plugins"),
        "build": _table(read, "build-system").get("backend-path"),
    }


def _table(read: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table, or none where the file has something else of that name."""
    found = read.get(name)
    return found if isinstance(found, dict) else {}


def _parts_of_cargo(text: str) -> object:
    """Return the tests and what runs them, which may be a program of the change's."""
    read = tomllib.loads(text)
    return [read.get(name) for name in ("test", "lib", "bench", "patch")]


def _parts_of_cmake(text: str) -> Sequence[str]:
    return [line.strip() for line in text.splitlines() if _OF_CTEST.search(line)]


def _parts_of_maven(text: str) -> Sequence[str]:
    return [line.strip() for line in text.splitlines() if _OF_JVM_TESTS.search(line)]


def _parts_of_ini(text: str) -> Mapping[str, object]:
    read = configparser.RawConfigParser(strict=False)
    read.read_string(text)
    wanted = ("tool:pytest", "coverage:", "tox", "options.entry_points")
    return {
        name: dict(read[name]) for name in read.sections() if name.startswith(wanted)
    }


def _parts_of_package(text: str) -> Mapping[str, object]:
    read: JsonValue = json.loads(text or "{}")
    if not isinstance(read, dict):
        return {}
    scripts = read.get("scripts")
    named = scripts if isinstance(scripts, dict) else {}
    counted = ("test", *_INSTALLING)
    first = [name for name in named if any(word in name for word in counted)]
    tests = {name: named[name] for name in reachable_scripts(named, first)}
    runners = [
        (name, version)
        for group in ("dependencies", "devDependencies", "overrides", "resolutions")
        for name, version in _items(read.get(group))
        if _is_local_runner(name, version)
    ]
    parts = {key: read.get(key) for key in (*_PARTS_OF_PACKAGE, "workspaces")}
    return {**parts, "scripts": tests, "runners": runners}


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


def _items(value: JsonValue) -> Sequence[tuple[str, JsonValue]]:
    return sorted(value.items()) if isinstance(value, dict) else ()


def _is_local_runner(name: str, version: JsonValue) -> bool:
    """Tell whether a package stands for a runner, and comes out of the repository."""
    is_local = str(version).startswith(("file:", "link:", "portal:", "npm:", ".", "/"))
    return is_local and any(one in name for one in (*_PARTS_OF_PACKAGE, "tap"))


_PARTS_OF: Final[Mapping[str, Callable[[str], object]]] = {
    "pyproject.toml": _parts_of_toml,
    "setup.cfg": _parts_of_ini,
    "package.json": _parts_of_package,
    "cargo.toml": _parts_of_cargo,
    "cmakelists.txt": _parts_of_cmake,
    "pom.xml": _parts_of_maven,
    "build.gradle": _parts_of_maven,
    "build.gradle.kts": _parts_of_maven,
    "settings.gradle": _parts_of_maven,
}
