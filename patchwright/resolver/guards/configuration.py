"""Know the files that say which tests are run, and how."""

import configparser
import json
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from pydantic import JsonValue

from patchwright.resolver.guards.globs import matches
from patchwright.resolver.guards.versions import Version

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
    *(".coveragerc", ".codecov.y*ml", "codecov.y*ml", ".nycrc*"),
    *("jest.config.*", "vitest.config.*", "vitest.workspace.*", "karma.conf.*"),
    *(".mocharc*", "playwright.config.*", "cypress.config.*", "ava.config.*"),
    *("phpunit.xml*", ".rspec", "nextest.toml", ".proverc", "CTestCustom.cmake"),
    # What a command for tests goes through.
    *("Makefile", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile"),
    *("Taskfile.y*ml", "Rakefile"),
    # What Python imports by itself, or in place of a test runner.
    *("sitecustomize.py", "usercustomize.py", "*.pth", "pytest.py", "unittest.py"),
    *("/pytest/**", "/_pytest/**", "/unittest/**", "/src/pytest/**"),
)
_PARTS_OF_TOML: Final = ("pytest", "coverage", "tox", "nox", "hatch")
# What npm runs by itself when it installs.
_INSTALLING: Final = ("install", "prepare", "prepublish")
_PARTS_OF_PACKAGE: Final = ("jest", "vitest", "mocha", "ava", "nyc", "c8")


def is_ci(path: str) -> bool:
    """Say whether a file tells a CI service what to run."""
    return any(matches(path, pattern) for pattern in _CI)


def changes_test_configuration(version: Version) -> bool:
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
    except (ValueError, configparser.Error):
        return version.before != version.after


def _parts_of_toml(text: str) -> Mapping[str, object]:
    tools = tomllib.loads(text).get("tool", {})
    return {name: tools[name] for name in _PARTS_OF_TOML if name in tools}


def _parts_of_ini(text: str) -> Mapping[str, object]:
    read = configparser.RawConfigParser(strict=False)
    read.read_string(text)
    wanted = ("tool:pytest", "coverage:", "tox")
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
    tests = {
        name: run
        for name, run in named.items()
        if any(word in name for word in counted)
    }
    return {**{key: read.get(key) for key in _PARTS_OF_PACKAGE}, "scripts": tests}


_PARTS_OF: Final = {
    "pyproject.toml": _parts_of_toml,
    "setup.cfg": _parts_of_ini,
    "package.json": _parts_of_package,
}
