"""Say by which commands the same runner runs other tests: named ones, or all.

Tests are named as `TestResults` names them. Paths are relative to the repository.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from shlex import quote
from typing import Final

from patchwright.resolver.proof.call_options import OptionRules, kept_options
from patchwright.resolver.proof.runner_calls import TestCall, read_call
from patchwright.resolver.proof.runners import RunnerKind

# A longer command may not reach its program.
_MAX_CHARS: Final = 60_000


def command_for(command: str | TestCall, tests: Sequence[str]) -> str | None:
    """Return the command that runs only these tests; None where there is none."""
    call = read_call(command) if isinstance(command, str) else command
    names = list(dict.fromkeys(tests))
    if call is None or not names or call.runner not in _SELECTIONS:
        return None
    selection = _SELECTIONS[call.runner](call, names)
    return selection if selection and len(selection) <= _MAX_CHARS else None


def whole_suite(command: str | TestCall, paths: Collection[str] = ()) -> str | None:
    """Return the command that runs all tests with the same runner.

    `paths` are the repository's files, as far as they are known: they say where tests
    are that no runner finds by itself.
    """
    call = read_call(command) if isinstance(command, str) else command
    if call is None or call.runner not in _SUITES:
        return None
    return _SUITES[call.runner](call, paths)


def _joined(*words: str) -> str:
    return " ".join(words)


_PYTEST: Final = OptionRules(
    dropped=frozenset(
        (
            *("-k", "-m", "-x", "--exitfirst", "--maxfail", "--lf", "--last-failed"),
            *("--ff", "--failed-first", "--nf", "--new-first", "--sw", "--stepwise"),
            *("--sw-skip", "--stepwise-skip", "--deselect", "--pdb", "--trace"),
            *("--ignore", "--ignore-glob", "--durations", "--cov-fail-under"),
        )
    ),
    valued=frozenset(
        (
            *("-k", "-m", "-n", "-W", "-p", "--maxfail", "--tb", "--deselect"),
            *("--ignore", "--ignore-glob", "--durations", "--cov-fail-under", "-r"),
        )
    ),
)


def _select_pytest(call: TestCall, tests: Sequence[str]) -> str | None:
    places = [_from_folder(call, test) for test in tests]
    if not all(place and re.search(r"\.\w+(?:::|$)", place) for place in places):
        return None
    named = [quote(place) for place in places if place]
    return _joined(call.prefix, *kept_options(call.arguments, _PYTEST), *named)


def _from_folder(call: TestCall, test: str) -> str | None:
    """Return a test, or a path, as it is called from where the runner starts."""
    if call.folder is None:
        return None
    path, separator, rest = test.partition("::")
    return posixpath.relpath(path, call.folder or ".") + separator + rest


def _all_of_pytest(call: TestCall, paths: Collection[str]) -> str:
    del paths  # pytest knows by itself
    return _joined(call.prefix, *kept_options(call.arguments, _PYTEST))


_UNITTEST: Final = OptionRules(
    dropped=frozenset(("-k", "-f", "--failfast")),
    valued=frozenset(
        (
            *("-k", "-s", "--start-directory", "-p", "--pattern", "-t", "--settings"),
            *("--top-level-directory", "--parallel", "--tag"),
        )
    ),
)
_DOTTED: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")


def _select_unittest(call: TestCall, tests: Sequence[str]) -> str | None:
    """Name the tests where their modules can be imported, else match their names."""
    if not all(map(_DOTTED.fullmatch, tests)):
        return None
    values = [word.value for word in call.arguments]
    options = kept_options(call.arguments, _UNITTEST)
    if values[:1] == ["discover"]:
        return _joined(call.prefix, "discover", *options, *_patterns(tests))
    if call.prefix.endswith(".py"):
        return _joined(call.prefix, *options, *_patterns(tests))
    return _joined(call.prefix, *options, *tests)


def _patterns(tests: Sequence[str]) -> list[str]:
    """Return options that match the ends of whole names: no other test has these."""
    return [f"-k {quote('*' + test.removeprefix('__main__'))}" for test in tests]


def _all_of_unittest(call: TestCall, paths: Collection[str]) -> str | None:
    values = [word.value for word in call.arguments]
    options = kept_options(call.arguments, _UNITTEST)
    if values[:1] == ["discover"]:
        return _joined(call.prefix, "discover", *options)
    if not call.prefix.endswith(("-m unittest", ".py")):  # manage.py test, nose2
        return _joined(call.prefix, *options)
    program = re.sub(r" \S+\.py$", " -m unittest", call.prefix)
    if not program.endswith(" -m unittest"):
        return None
    return _joined(program, "discover", *options, *_start_folder(call, paths))


def _start_folder(call: TestCall, paths: Collection[str]) -> list[str]:
    """Say where tests are if they are in no package: discovery does not go there."""
    for name in ("tests", "test"):
        folder = posixpath.join(call.folder or "", name)
        inside = [path for path in paths if path.startswith(f"{folder}/")]
        if inside and f"{folder}/__init__.py" not in inside:
            return ["-s", name]
    return []


_Select = Callable[[TestCall, Sequence[str]], str | None]
_All = Callable[[TestCall, Collection[str]], str | None]
_SELECTIONS: Final[dict[RunnerKind, _Select]] = {
    RunnerKind.PYTEST: _select_pytest,
    RunnerKind.UNITTEST: _select_unittest,
}
_SUITES: Final[dict[RunnerKind, _All]] = {
    RunnerKind.PYTEST: _all_of_pytest,
    RunnerKind.UNITTEST: _all_of_unittest,
}
