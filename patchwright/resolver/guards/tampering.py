"""Find what a change does to the tests that are to judge it."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import count_noun
from patchwright.integrations.git.changes import ChangedPath, ChangeKind, is_test
from patchwright.resolver.guards.changed_files import FileVersions, old_path
from patchwright.resolver.guards.runner_configuration import (
    changes_test_configuration,
    is_ci,
)

_PYTHON = re.compile(
    r"(?:@|\b)pytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip)\b"
    r"|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b"
    r"|\bself\.skipTest\(|\braise (?:unittest\.)?SkipTest\b|\b__test__ *= *False"
)
_SCRIPT = re.compile(
    r"\b(?:describe|it|test|suite|context|bench)\.(?:\w+\.)*(?:skip|only|todo|fails|skipIf)\b"
    r"|\b(?:xit|xdescribe|xtest|xcontext|fit|fdescribe|fcontext)\("
    r"|\bthis\.skip\(\)"
)
_JVM = re.compile(
    r"@(?:org\.junit\.\S*\.)?(?:Disabled|Ignore)\w*\b|\bassumeTrue\(|\bassumeFalse\("
)
_RUBY = re.compile(
    r"^\s*(?:pending|skip|xit|xdescribe|xcontext|xspecify)\b|\bskip: true"
)
_SKIP_PATTERNS: Final = {
    ".py": _PYTHON,
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".vue"), _SCRIPT
    ),
    ".go": re.compile(r"\b[tb]\.(?:Skip|Skipf|SkipNow)\("),
    **dict.fromkeys((".java", ".kt", ".kts", ".groovy", ".scala"), _JVM),
    ".rb": _RUBY,
    ".rs": re.compile(r"#\[\s*(?:cfg_attr\(.*\bignore\b.*|ignore\b.*)\]"),
    ".cs": re.compile(r"\[Ignore\b|\bSkip\s*="),
    ".php": re.compile(r"\bmarkTest(?:Skipped|Incomplete)\("),
    ".swift": re.compile(r"\bXCTSkip|\.disabled\("),
}
_TEST = re.compile(
    r"^\s*(?:async\s+)?def test|^\s*func (?:\([^)]*\)\s*)?[Tt]est|^\s*@(?:\w+)?Test\b"
    r"|^\s*#\[(?:\w+::)*test\b|^\s*\[(?:Fact|Theory|Test|TestMethod)\b"
    r"|^\s*(?:it|test|specify|scenario)\b[\s(.]|\bfunction test"
)
_ASSERTION = re.compile(
    r"\bassert|\bexpect|\.should\b|\bshould_|\braises\b|\brequire\.\w"
    r"|\b[tb]\.(?:Error|Fatal|Fail)|\bverify\(|\bXCT|\bAssert\."
)


# Code that ends a process before a runner has reported, with an exit code of success,
# or that names the runner outside a test.
_SCRIPTS_EXIT = re.compile(
    r"\bprocess\.(?:exit\((?!\s*[1-9])|reallyExit|abort\()|\bprocess\s*\["
    r"|\bprocess\.exitCode\s*=\s*(?:0|undefined|null|void)\b"
    r"|\bprocess\.(?:on|once|(?:prepend)?(?:Once)?(?:[aA]dd)?Listener)\(\s*.(?:beforeE|e)xit"
)
_JVM_EXIT = re.compile(r"\bSystem\.exit\((?!\s*[1-9])|\bgetRuntime\(\)\.halt\(")
_EXIT_PATTERNS: Final = {
    ".py": re.compile(r"\b_exit\b|\bos\.(?:abort\(|kill\(os\.getpid|exec[lv])"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx"), _SCRIPTS_EXIT),
    ".go": re.compile(r"\b(?:os|syscall)\.Exit\((?!\s*[1-9])"),
    ".rs": re.compile(r"\bprocess::(?:exit\((?!\s*[1-9])|abort\()"),
    **dict.fromkeys((".java", ".kt", ".groovy", ".scala"), _JVM_EXIT),
    ".rb": re.compile(r"\bexit!"),
    ".php": re.compile(r"\b(?:exit|die)\b\s*[(;](?!\s*[1-9])"),
    ".cs": re.compile(r"\bEnvironment\.(?:Exit\((?!\s*[1-9])|FailFast)"),
    **dict.fromkeys(
        (".c", ".cc", ".cpp"), re.compile(r"\b(?:_exit|_Exit|quick_exit)\s*\(")
    ),
}
_RUNNER = re.compile(
    r"PATCHWRIGHT_TEST|TEST_REPORT|_REPORT\b.{0,80}environ|environ.{0,80}_REPORT\b"
    r"|unittest_recorder|PYTEST_|junit-?xml|GOFLAGS|/workspace/reports|\breports-"
    r"|unittest\.jsonl|pytest\.xml|pytest11"
    # Parts of a runner that a test or a helper can replace.
    r"|\bpytest_(?:plugins|pyfunc_call|runtest_\w+|report_\w+|collection_\w+|collect_\w+"
    r"|sessionfinish|configure|cmdline_\w+|load_\w+|itemcollected|exception_\w+)\b"
    r"|\b(?:TestCase|TestResult|TestProgram|TestSuite)\.\w+\s*=[^=]"
)
_RUNNER_IN_CODE = re.compile(
    r"\b(?:import|from)\s+_?(?:pytest|unittest|_pytest)\b"
    r"|[\"']_?(?:pytest|unittest)[\"'.]|\bsitecustomize\b"
    # Ways around these names.
    r"|\bsys\.modules\b(?!\[__name__\])|\bgc\.get_\w+|\bsys\.set(?:trace|profile)\b"
    r"|\bbuiltins\.\w+\s*=[^=]|\b(?:inspect\.stack|sys\._getframe)\("
)
_SCRIPT_RUNNER_IN_CODE = re.compile(
    r"[\"'`](?:node:test|vitest|jest|@jest/[\w-]+|mocha|chai|node:assert|assert)[\"'`]"
    r"\s*[\])]\s*(?:\.\s*\w{1,40}|\[[^\]]{1,40}\])\s*=[^=]|\brequire\.cache\b"
    r"|\bglobal(?:This)?\.(?:expect|it|test|describe|assert)\b|\bJEST_WORKER_ID\b"
)


def tampers_with_runner(path: str, line: str) -> bool:
    """Tell whether a line could forge what a test runner tells of it."""
    suffix = PurePosixPath(path).suffix.lower()
    exits = _EXIT_PATTERNS.get(suffix)
    if exits is None:
        return False
    if exits.search(line) or _RUNNER.search(line):
        return True
    in_code = _RUNNER_IN_CODE if suffix == ".py" else _SCRIPT_RUNNER_IN_CODE
    return not is_test(path) and in_code.search(line) is not None


# Code that is read as text, instead of being run.
_READING: Final = re.compile(
    r"\bopen\(|\bread_(?:text|bytes)\(|\breadFile(?:Sync)?\b|\bFile\.(?:read|open)|\bIO\.read"
    r"|\bfile_get_contents\(|\b(?:os|ioutil)\.(?:ReadFile|Open)\(|\binclude_(?:str|bytes)!"
    r"|\bfs::read|\bReadAll(?:Text|Lines|Bytes)\(|\bFiles\.(?:read|lines)|\blinecache\b"
    r"|\bslurp\b|\b(?:ast\.parse|getsource\w*|tokenize)\("
)
_OWN_SOURCE: Final = re.compile(
    r"\b(?:inspect\.)?getsource(?:lines|file)?\(|\b__code__\b|\bco_(?:code|consts|names)\b"
    r"|\bgit\b[\s\"',]{1,8}grep\b"
    r"|\b\w+\.toString\(\)\.(?:includes|match|indexOf)\("
)


def reads_source_text(lines: Iterable[str], names: Collection[str]) -> bool:
    """Tell whether a test looks at the text of code, of which `names` are files.

    Such a test can pass by a comment.
    """
    text = "\n".join(lines)
    if _OWN_SOURCE.search(text):
        return True
    if _READING.search(text) is None:
        return False
    own = [rf"[\"'`/]{re.escape(name)}[\"'`]" for name in names]
    return any(re.search(one, text) for one in (r"\w\.__file__\b", *own))


def is_source(path: str) -> bool:
    """Tell whether a file is code that a test could run, by its ending."""
    return (
        PurePosixPath(path).suffix.lower()
        in _SKIP_PATTERNS.keys() | _EXIT_PATTERNS.keys()
    )


def find_skip(path: str, line: str) -> str | None:
    """Return what in a line keeps a test from being run, or counts out all others."""
    pattern = _SKIP_PATTERNS.get(PurePosixPath(path).suffix.lower())
    found = pattern.search(line) if pattern else None
    return found[0].strip() if found else None


def has_tests_inside(path: str) -> bool:
    """Tell whether tests stand beside the code there, by the habits of a language."""
    return path.lower().endswith(".rs")


def count_tests(text: str) -> int:
    return sum(bool(_TEST.search(line)) for line in text.splitlines())


def count_assertions(text: str) -> int:
    return sum(bool(_ASSERTION.search(line)) for line in text.splitlines())


_SHOWN = 5


def find_tampering(versions: Sequence[FileVersions]) -> tuple[str, ...]:
    """Return what a reviewer must look at before anything else, a sentence each."""
    return (
        *_list_files("A test file was deleted", versions, _is_deleted_test),
        *(line for one in versions for line in _skipped_tests(one)),
        *(line for one in versions for line in _lost_tests(one)),
        *_list_files("The configuration of CI was changed", versions, _is_ci),
        *_list_files(
            "The configuration of the tests was changed",
            versions,
            changes_test_configuration,
        ),
        *_list_files(
            "The change ends a process at once, or accesses the test runner",
            versions,
            _tampers_with_runner,
        ),
        *_list_files(
            "A test reads code as text instead of running it",
            versions,
            _source_reader(versions),
        ),
    )


def rules_out_proof(versions: Sequence[FileVersions]) -> bool:
    """Tell whether a change could make its tests say what it likes."""
    reads_code_of = _source_reader(versions)
    return any(
        changes_test_configuration(one)
        or _tampers_with_runner(one)
        or reads_code_of(one)
        for one in versions
    )


def changed_tests(changes: Sequence[ChangedPath]) -> tuple[str, ...]:
    """Return the test files of the base that the change does not leave as they were."""
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    paths = (old_path(c) for c in changes if c.kind not in new)
    return tuple(path for path in paths if is_test(path))


def _is_deleted_test(one: FileVersions) -> bool:
    return one.change.kind is ChangeKind.DELETED and is_test(one.change.path)


def _is_ci(one: FileVersions) -> bool:
    return is_ci(one.change.path) or is_ci(old_path(one.change))


def _tampers_with_runner(one: FileVersions) -> bool:
    if one.after is None:
        return False
    path = one.change.path
    return any(tampers_with_runner(path, line) for line in _added_lines(one))


def _source_reader(versions: Sequence[FileVersions]) -> Callable[[FileVersions], bool]:
    """Return what knows a test that reads the text of this change's own code."""
    paths = (one.change.path for one in versions)
    code = {path for path in paths if is_source(path) and not is_test(path)}
    names = {PurePosixPath(path).name for path in code}

    def reads(one: FileVersions) -> bool:
        is_read = one.after is not None and is_test(one.change.path)
        return is_read and bool(code) and reads_source_text(_added_lines(one), names)

    return reads


def _skipped_tests(one: FileVersions) -> Iterator[str]:
    path = one.change.path
    if one.after is None or not (is_test(path) or has_tests_inside(path)):
        return
    marks = dict.fromkeys(
        mark for line in _added_lines(one) if (mark := find_skip(path, line))
    )
    if marks:
        shown = ", ".join(inline_code(mark) for mark in list(marks)[:_SHOWN])
        yield f"Tests are left out in {_code(one.change)} that would run: {shown}."


def _added_lines(one: FileVersions) -> Iterator[str]:
    """Yield the lines that the file had not, or not as often; order does not count."""
    before = Counter(_lines(one.before or ""))
    yield from (Counter(_lines(one.after or "")) - before).elements()


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _lost_tests(one: FileVersions) -> Iterator[str]:
    if one.before is None or one.after is None or not is_test(old_path(one.change)):
        return
    tests = count_tests(one.before) - count_tests(one.after)
    assertions = count_assertions(one.before) - count_assertions(one.after)
    lost = [
        count_noun(number, noun)
        for number, noun in ((tests, "test"), (assertions, "assertion"))
        if number > 0
    ]
    if lost:
        yield f"{_code(one.change)} has {' and '.join(lost)} fewer than before."


def _list_files(
    words: str, versions: Sequence[FileVersions], holds: Callable[[FileVersions], bool]
) -> Iterator[str]:
    found = [one.change for one in versions if holds(one)]
    if found:
        shown = ", ".join(_code(change) for change in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"{words}: {shown}{more}."


def _code(change: ChangedPath) -> str:
    return inline_code(change.shown)
