"""Know by its looks what skips a test, defines one, or asserts something."""

import re
from pathlib import PurePosixPath
from typing import Final

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
