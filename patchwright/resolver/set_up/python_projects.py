"""Read what pip has to install for the tests of a Python project."""

import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any, Final

# For tests, in the order in which people name them.
_TEST_NAMES: Final = ("test", "tests", "testing", "dev", "develop", "development")
_REQUIREMENTS: Final = (
    "requirements.txt",
    *(f"requirements{one}.txt" for one in ("-dev", "_dev", "-test", "_test", "-tests")),
    *(f"{one}-requirements.txt" for one in ("dev", "test")),
    *(f"requirements/{one}.txt" for one in ("dev", "test", "tests", "testing")),
)
# One of these says that the tests are pytest's.
_PYTEST_FILES: Final = ("pytest.ini", "conftest.py", "tests/conftest.py")
_MOST_INCLUDES: Final = 20
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def requirement_files(files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files with requirements, those of the product first."""
    return tuple(name for name in _REQUIREMENTS if name in files)


def is_installable(files: Mapping[str, str]) -> bool:
    """Tell whether pip can install the project; settings of tools are no project."""
    if "setup.py" in files:
        return True
    project = read_toml(files.get("pyproject.toml", ""))
    if "project" in project or "build-system" in project:
        return True
    return "[metadata]" in files.get("setup.cfg", "")


def pip_arguments(files: Mapping[str, str]) -> str:
    """Return the arguments of `pip install`, quoted; nothing for no project.

    Besides the project itself these are its requirements for tests: of files, of
    extras and of dependency groups. pytest is added where it is used and not named.
    """
    listed = requirement_files(files)
    options = [("-r", name) for name in listed]
    if is_installable(files):
        options.append(("-e", _project_with_extras(files)))
    if not options:
        return ""
    words = _group_requirements(files)
    texts = (*words, *(value for _, value in options), *(files[one] for one in listed))
    if _uses_pytest(files) and not re.search(r"\bpytest\b", " ".join(texts)):
        words.append("pytest")
    flat = [word for option in options for word in option]
    return shlex.join((*flat, *dict.fromkeys(words)))


def _project_with_extras(files: Mapping[str, str]) -> str:
    project = read_toml(files.get("pyproject.toml", "")).get("project")
    extras = project.get("optional-dependencies") if isinstance(project, dict) else {}
    named = extras if isinstance(extras, dict) else {}
    wanted = [one for one in _TEST_NAMES if one in named]
    return f".[{','.join(wanted)}]" if wanted else "."


def _group_requirements(files: Mapping[str, str]) -> list[str]:
    """Return the requirements of the groups for tests: an older pip knows no groups.

    https://packaging.python.org/en/latest/specifications/dependency-groups/
    """
    groups = read_toml(files.get("pyproject.toml", "")).get("dependency-groups")
    if not isinstance(groups, dict):
        return []
    found: list[str] = []
    waiting = [one for one in _TEST_NAMES if one in groups]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_INCLUDES:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        entries = groups.get(name)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, str) and _NAME.match(entry):
                found.append(entry)
            elif isinstance(entry, dict):
                waiting.append(str(entry.get("include-group", "")))
    return found


def _uses_pytest(files: Mapping[str, str]) -> bool:
    if any(name in files for name in _PYTEST_FILES):
        return True
    tools = read_toml(files.get("pyproject.toml", "")).get("tool")
    if isinstance(tools, dict) and "pytest" in tools:
        return True
    return any(
        section in files.get(name, "")
        for name, section in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]"))
    )


def read_toml(text: str) -> dict[str, Any]:
    """Return a table; what cannot be read says nothing."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}
