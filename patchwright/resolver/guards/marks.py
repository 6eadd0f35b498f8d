"""Know by its looks what skips a test, defines one, or asserts something."""

import re
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.paths import is_test

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
_SKIPS: Final = {
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


# What ends a process before a runner has told anything, with an exit code that is no
# failure, or names the runner in code that is no test.
_SCRIPTS_EXIT = re.compile(r"\bprocess\.(?:exit\((?!\s*[1-9])|reallyExit|abort\()")
_JVM_EXIT = re.compile(r"\bSystem\.exit\((?!\s*[1-9])|\bgetRuntime\(\)\.halt\(")
_EXITS: Final = {
    ".py": re.compile(r"\b_exit\b|\bos\.(?:abort\(|kill\(os\.getpid)"),
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
    r"PATCHWRIGHT_TEST_REPORT|unittest_recorder|PYTEST_|junit-?xml|GOFLAGS"
)
_RUNNER_IN_CODE = re.compile(
    r"\b(?:import|from)\s+_?(?:pytest|unittest)\b|[\"']_?(?:pytest|unittest)[\"'.]"
    r"|\bsitecustomize\b"
)


def reaches_for_runner(path: str, line: str) -> bool:
    """Tell whether a line could forge what a test runner tells of it."""
    suffix = PurePosixPath(path).suffix.lower()
    exits = _EXITS.get(suffix)
    if exits is None:
        return False
    if exits.search(line) or _RUNNER.search(line):
        return True
    is_code = suffix == ".py" and not is_test(path)
    return is_code and _RUNNER_IN_CODE.search(line) is not None


def find_skip(path: str, line: str) -> str | None:
    """Return what in a line keeps a test from being run, or counts out all others."""
    pattern = _SKIPS.get(PurePosixPath(path).suffix.lower())
    found = pattern.search(line) if pattern else None
    return found[0].strip() if found else None


def has_tests_inside(path: str) -> bool:
    """Tell whether tests stand beside the code there, by the habits of a language."""
    return path.lower().endswith(".rs")


def count_tests(text: str) -> int:
    return sum(bool(_TEST.search(line)) for line in text.splitlines())


def count_assertions(text: str) -> int:
    return sum(bool(_ASSERTION.search(line)) for line in text.splitlines())
