"""Know by its looks what skips a test, defines one, or asserts something."""

import re
from collections.abc import Collection, Iterable
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


# What ends a process before a runner has told anything, with an exit code that is no
# failure, or names the runner in code that is no test.
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
    return PurePosixPath(path).suffix.lower() in _SKIP_PATTERNS.keys() | _EXIT_PATTERNS.keys()


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
