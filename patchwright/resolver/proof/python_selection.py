"""Say by which commands pytest and `unittest` run named tests, or all."""

import posixpath
import re
from collections.abc import Collection, Sequence
from shlex import quote
from typing import Final

from patchwright.resolver.proof.call_options import (
    OptionRules,
    from_folder,
    join_words,
    kept_options,
)
from patchwright.resolver.proof.runner_calls import TestCall

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


def select_pytest(call: TestCall, tests: Sequence[str]) -> str | None:
    places = [from_folder(call, test) for test in tests]
    if not all(place and re.search(r"\.\w+(?:::|$)", place) for place in places):
        return None
    named = [quote(place) for place in places if place]
    return join_words(call.prefix, *kept_options(call.arguments, _PYTEST), *named)


def all_of_pytest(call: TestCall) -> str:
    return join_words(call.prefix, *kept_options(call.arguments, _PYTEST))


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


def select_unittest(call: TestCall, tests: Sequence[str]) -> str | None:
    """Name the tests where their modules can be imported, else match their names."""
    if not all(map(_DOTTED.fullmatch, tests)):
        return None
    values = [word.value for word in call.arguments]
    options = kept_options(call.arguments, _UNITTEST)
    if values[:1] == ["discover"]:
        return join_words(call.prefix, "discover", *options, *_patterns(tests))
    if call.prefix.endswith(".py"):
        return join_words(call.prefix, *options, *_patterns(tests))
    return join_words(call.prefix, *options, *tests)


def _patterns(tests: Sequence[str]) -> list[str]:
    """Return options that match the ends of whole names: no other test has these."""
    return [f"-k {quote('*' + test.removeprefix('__main__'))}" for test in tests]


def all_of_unittest(call: TestCall, paths: Collection[str]) -> str | None:
    values = [word.value for word in call.arguments]
    options = kept_options(call.arguments, _UNITTEST)
    if values[:1] == ["discover"]:
        return join_words(call.prefix, "discover", *options)
    if not call.prefix.endswith(("-m unittest", ".py")):  # manage.py test, nose2
        return join_words(call.prefix, *options)
    program = re.sub(r" \S+\.py$", " -m unittest", call.prefix)
    if not program.endswith(" -m unittest"):
        return None
    return join_words(program, "discover", *options, *_start_folder(call, paths))


def _start_folder(call: TestCall, paths: Collection[str]) -> list[str]:
    """Say where tests are if they are in no package: discovery does not go there."""
    for name in ("tests", "test"):
        folder = posixpath.join(call.folder or "", name)
        inside = [path for path in paths if path.startswith(f"{folder}/")]
        if inside and f"{folder}/__init__.py" not in inside:
            return ["-s", name]
    return []
