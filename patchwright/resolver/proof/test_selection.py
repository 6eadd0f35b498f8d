"""Say by which commands the same runner runs other tests: named ones, or all.

Tests are named as `TestResults` names them. Paths are relative to the repository.
"""

import re
from collections.abc import Callable, Collection, Sequence
from shlex import quote
from typing import Final

from patchwright.resolver.proof.call_options import (
    OptionRules,
    from_folder,
    join_words,
    kept_options,
)
from patchwright.resolver.proof.python_selection import (
    all_of_pytest,
    all_of_unittest,
    select_pytest,
    select_unittest,
)
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
    if call is None:
        return None
    match call.runner:
        case RunnerKind.PYTEST:
            return all_of_pytest(call)
        case RunnerKind.UNITTEST:
            return all_of_unittest(call, paths)
        case RunnerKind.MINITEST if "ruby" in call.prefix:
            return None  # it runs one file
        case RunnerKind.PHPUNIT if not _is_phpunit_configured(call, paths):
            return join_words(call.prefix, *_options(call), "tests")
        case RunnerKind.GO:
            return join_words(call.prefix, *_options(call), "./...")
        case RunnerKind.VITEST:
            return join_words(call.prefix, "run", *_options(call))
        case RunnerKind.SCRIPT:
            return _script_alone(call)
        case _:
            return join_words(call.prefix, *_options(call))


def _is_phpunit_configured(call: TestCall, paths: Collection[str]) -> bool:
    """Tell whether PHPUnit knows its tests; without `paths` it is taken to."""
    folder = f"{call.folder}/" if call.folder else ""
    names = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
    return not paths or any(f"{folder}{name}" in paths for name in names)


def _script_alone(call: TestCall) -> str:
    """Return the call of a script without what it hands on to a runner."""
    raw = [word.raw for word in call.arguments]
    return join_words(call.prefix, *(raw[: raw.index("--")] if "--" in raw else raw))


def _options(call: TestCall) -> list[str]:
    return kept_options(call.arguments, _RULES.get(call.runner, OptionRules()))


def _rules(dropped: str, valued: str = "") -> OptionRules:
    return OptionRules(frozenset(dropped.split()), frozenset(valued.split()))


_RULES: Final = {
    RunnerKind.NODE: _rules(
        "--test-name-pattern --test-only --test-skip-pattern",
        "--test-name-pattern --test-skip-pattern --import --test-timeout",
    ),
    RunnerKind.JEST: _rules(
        "-t --testNamePattern -o --onlyChanged --testPathPattern --runTestsByPath "
        "--bail -b --findRelatedTests --shard --lastCommit --changedSince",
        "-t --testNamePattern --testPathPattern --shard --maxWorkers -w --changedSince "
        "--testTimeout --selectProjects --projects",
    ),
    RunnerKind.VITEST: _rules(
        "-t --testNamePattern --bail --shard --changed --watch -w --dir",
        "-t --testNamePattern --bail --shard --project --reporter --pool --dir",
    ),
    RunnerKind.MOCHA: _rules(
        "-g --grep -f --fgrep -b --bail --forbid-only -i --invert",
        "-g --grep -f --fgrep -t --timeout -R --reporter -u --extension --ignore",
    ),
    RunnerKind.GO: _rules(
        "-run --run -bench -failfast -fuzz -short -skip",
        "-run --run -bench -fuzz -skip -count -timeout -tags -p -parallel -cpu -mod "
        "-covermode -coverprofile -coverpkg -ldflags -gcflags",
    ),
    RunnerKind.CARGO: _rules(
        "--test --lib --bins --bin --example --examples --doc --no-fail-fast",
        "--test --bin --example -p --package --features -F --target --profile "
        "--target-dir --manifest-path -j --jobs --exclude",
    ),
    RunnerKind.RSPEC: _rules(
        "-e --example -E --example-matches --only-failures --next-failure -n "
        "--fail-fast --tag -t -P --pattern",
        "-e --example -E --example-matches --tag -t -P --pattern -f --format --seed "
        "--order",
    ),
    RunnerKind.PHPUNIT: _rules(
        "--filter --group --testsuite --stop-on-failure --stop-on-error "
        "--stop-on-defect --exclude-group",
        "--filter --group --testsuite --exclude-group --bootstrap --order-by",
    ),
    RunnerKind.CTEST: _rules(
        "-R --tests-regex -E --exclude-regex -L -LE -I --rerun-failed "
        "--stop-on-failure",
        "-R --tests-regex -E --exclude-regex -L -LE -I --test-dir -C -j --parallel "
        "--timeout --repeat",
    ),
    RunnerKind.MAVEN: _rules("-Dtest -Dit.test -Dsurefire.skip", "-pl -P -T"),
    RunnerKind.GRADLE: _rules("--tests", "--tests -x -p --project-dir --max-workers"),
}


def _places(call: TestCall, tests: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files and the titles of tests that have both; else nothing."""
    parts = [test.partition("::") for test in tests]
    files = [from_folder(call, path) for path, _, _ in parts]
    titles = [title for _, _, title in parts]
    known = [file for file in files if file]
    if not all(titles) or len(known) < len(files):
        return [], []
    return [quote(file) for file in dict.fromkeys(known)], titles


def _any_of(texts: Sequence[str]) -> str:
    """Return a regular expression of all dialects for any of these texts."""
    escaped = (re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text) for text in texts)
    return f"({'|'.join(dict.fromkeys(escaped))})"


def _select_node(call: TestCall, tests: Sequence[str]) -> str | None:
    """Match the ends: releases differ in whether suites are part of a test's name."""
    files, titles = _places(call, tests)
    ends = _any_of([title.rpartition(" > ")[2] for title in titles])
    pattern = f"--test-name-pattern {quote(f'{ends}$')}"
    return join_words(call.prefix, *_options(call), pattern, *files) if files else None


def _select_jest(call: TestCall, tests: Sequence[str]) -> str | None:
    files, titles = _places(call, tests)
    pattern = f"-t {quote(f'^{_any_of(titles)}$')}"
    words = [call.prefix, *_options(call), pattern, "--runTestsByPath", *files]
    return join_words(*words) if files else None


def _select_vitest(call: TestCall, tests: Sequence[str]) -> str | None:
    files, titles = _places(call, tests)
    pattern = f"-t {quote(f'^{_any_of(titles)}$')}"
    words = [call.prefix, "run", *files, *_options(call), pattern]
    return join_words(*words) if files else None


def _select_mocha(call: TestCall, tests: Sequence[str]) -> str | None:
    files, titles = _places(call, tests)
    pattern = f"-g {quote(f'^{_any_of(titles)}$')}"
    return join_words(call.prefix, *_options(call), pattern, *files) if files else None


def _select_rspec(call: TestCall, tests: Sequence[str]) -> str | None:
    files, titles = _places(call, tests)
    examples = [f"-e {quote(title)}" for title in titles]
    return (
        join_words(call.prefix, *_options(call), *examples, *files) if files else None
    )


_GO_TEST: Final = re.compile(r"(.+?)\.((?:Test|Example|Fuzz|Benchmark)\w*)(?:/.*)?")


def _select_go(call: TestCall, tests: Sequence[str]) -> str | None:
    """Name whole test functions; those of a table run together."""
    found = [_GO_TEST.fullmatch(test) for test in tests]
    known = [one for one in found if one]
    if len(known) < len(found):
        return None
    functions = quote(f"^{_any_of([one[2] for one in known])}$")
    packages = dict.fromkeys(quote(one[1]) for one in known)
    return join_words(call.prefix, *_options(call), f"-run {functions}", *packages)


def _select_cargo(call: TestCall, tests: Sequence[str]) -> str | None:
    """Leave the crates away, as test programs do; examples in text have no name."""
    names = [test.partition("::")[2] for test in tests]
    if not all(re.fullmatch(r"[\w:]+", name) for name in names):
        return None
    return join_words(call.prefix, *_options(call), "-- --exact", *dict.fromkeys(names))


def _select_phpunit(call: TestCall, tests: Sequence[str]) -> str:
    where = [word.raw for word in call.arguments if not word.value.startswith("-")][-1:]
    pattern = quote(f"/^{_any_of(tests)}$/")
    return join_words(call.prefix, *_options(call), f"--filter {pattern}", *where)


def _select_ctest(call: TestCall, tests: Sequence[str]) -> str:
    return join_words(
        call.prefix, *_options(call), f"-R {quote(f'^{_any_of(tests)}$')}"
    )


_JAVA_TEST: Final = re.compile(r"([\w.$]+)\.(\w+)")


def _select_maven(call: TestCall, tests: Sequence[str]) -> str | None:
    found = [_JAVA_TEST.fullmatch(test) for test in tests]
    known = [f"{one[1]}#{one[2]}" for one in found if one]
    if len(known) < len(found):
        return None
    words = [call.prefix, *_options(call), f"-Dtest={quote(','.join(known))}"]
    return join_words(*words, "-DfailIfNoTests=false")


def _select_gradle(call: TestCall, tests: Sequence[str]) -> str | None:
    *first, task = call.prefix.split(" ")
    if task != "test" or not all(map(_JAVA_TEST.fullmatch, tests)):
        return None
    # Tests that have passed on the same files are "up to date" and would not run again.
    clean = [] if "clean" in first or "cleanTest" in first else ["cleanTest"]
    chosen = [f"--tests {quote(test)}" for test in tests]
    return join_words(*first, *clean, task, *chosen, *_options(call))


_Select = Callable[[TestCall, Sequence[str]], str | None]
_SELECTIONS: Final[dict[RunnerKind, _Select]] = {
    RunnerKind.PYTEST: select_pytest,
    RunnerKind.UNITTEST: select_unittest,
    RunnerKind.NODE: _select_node,
    RunnerKind.JEST: _select_jest,
    RunnerKind.VITEST: _select_vitest,
    RunnerKind.MOCHA: _select_mocha,
    RunnerKind.GO: _select_go,
    RunnerKind.CARGO: _select_cargo,
    RunnerKind.RSPEC: _select_rspec,
    RunnerKind.PHPUNIT: _select_phpunit,
    RunnerKind.CTEST: _select_ctest,
    RunnerKind.MAVEN: _select_maven,
    RunnerKind.GRADLE: _select_gradle,
}
