"""Know the options and variables that lead a runner to other code, or to no tests."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.resolver.proof.runners import RunnerKind

ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=")
# Where a test's report goes, and what is run before it, is not for the command to say.
_REFUSED_OPTIONS: Final = re.compile(
    r"-[hlqsvxV]*[cop](?!no:).*|@.+|--(?:config-file|override-ini|rootdir|confcutdir"
    r"|junit-?xml|co|collect-only|passWithNoTests|pass-with-no-tests|require|import"
    r"|config|setupFiles\w*|exec|no-run|dry-run|list)(?:=.*)?"
)
# Pytest's own; elsewhere these letters mean something else. They may stand behind
# others that take no value, and a file may hold further ones.
_OF_PYTEST: Final = re.compile(r"-[hlqsvxV]*[cop].*|@.*")
_REPORTER: Final = ("--reporter", "--reporters")
_NAMING_REPORTER: Final = {
    RunnerKind.NODE: ("--test-reporter", "--test-reporter-destination"),
    RunnerKind.MOCHA: (*_REPORTER, "-R"),
    RunnerKind.RSPEC: ("--format", "-f", "--formatter"),
}
_BUILT_IN_REPORTERS: Final = frozenset(
    (
        *("default", "spec", "dot", "verbose", "basic", "tap", "min", "list", "tree"),
        *("tap-flat", "progress", "documentation", "p", "d", "doc", "stdout", "stderr"),
    )
)
# What else leads to code or reports that the command chooses.
_REFUSED_BY_RUNNER: Final = {
    RunnerKind.NODE: re.compile(r"-[rep]|--(?:\w+-)?loader(?:=.*)?|--(?:eval|print).*"),
    RunnerKind.JEST: re.compile(
        r"-c|--(?:testRunner|runner|globalSetup|globalTeardown|resolver|transform"
        r"|testResultsProcessor|testEnvironment|json|outputFile)(?:=.*)?"
    ),
    RunnerKind.VITEST: re.compile(r"-c|--(?:outputFile|globalSetup|runner).*"),
    RunnerKind.MOCHA: re.compile(r"-r.*|--(?:ui|reporter-options?|spec-file)(?:=.*)?"),
    RunnerKind.RSPEC: re.compile(r"-[roI].*|--(?:out|options|default-path)(?:=.*)?"),
    RunnerKind.PHPUNIT: re.compile(
        r"-c|--(?:configuration|printer|extension|log-\w+|prepend)(?:=.*)?"
    ),
    RunnerKind.GO: re.compile(
        r"--?(?:exec|toolexec|overlay|modfile|c|o|list|args|vettool)(?:=.*)?"
    ),
    RunnerKind.MAVEN: re.compile(r"-f.*|--file(?:=.*)?|-s.*|-gs.*|--settings(?:=.*)?"),
    RunnerKind.GRADLE: re.compile(
        r"-[bcIg]|--(?:init-script|build-file|settings-file|dry-run)(?:=.*)?"
    ),
    RunnerKind.CTEST: re.compile(
        r"-[SDNO].*|--(?:script|build-and-test|output-\S+|show-only)(?:=.*)?"
    ),
}
# Those with which tools are told what to run, or to run something first.
_REFUSED_VARIABLES: Final = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|ENV|BASH_ENV|IFS|SHELL|PYTHON(?!PATH|DONTWRITE|UNBUFF|WARN|UTF8"
    r"|HASHSEED|ASYNCIO)\w*|PYTEST_\w+|NODE_(?:OPTIONS|PATH)|RUBY(?:OPT|LIB)|PERL5\w+"
    r"|GO(?:FLAGS|ROOT|PROXY|WORK|BIN)|MAVEN_\w+|\w*JAVA_\w+|MAKE\w+|HOME|PATCHWRIGHT_\w+"
    r"|(?i:npm_\w+|yarn_\w+|pnpm_\w+|cargo_\w+|rustc\w*|rustdoc\w*)|SPEC_OPTS"
    r"|(?:TEST|RAKE)\w*OPTS?|HARNESS_\w+|PROVE\w+|PHP\w+|BUNDLE_\w+|GEM_\w+|(?:UV|POETRY"
    r"|PIP|PIPENV|PDM|HATCH|TOX|NOX|COVERAGE|VSTEST|DOTNET|MVN|GRADLE|CTEST|CMAKE|JEST"
    r"|VITEST|MOCHA|C8|NYC|TS_NODE|COMPOSER|GIT)_\w+|VIRTUAL_ENV|CC|CXX|AR"
)


def sets_refused_variable(word: str) -> bool:
    """Tell whether an assignment sets what only the repository may set."""
    found = ASSIGNMENT.match(word)
    return found is not None and _REFUSED_VARIABLES.fullmatch(found[1]) is not None


def has_refused_option(runner: RunnerKind, words: Sequence[str]) -> bool:
    """Tell whether an option chooses which code reports the results, and where to."""
    own = _REFUSED_BY_RUNNER.get(runner)

    def refused(at: int, word: str) -> bool:
        following = words[at + 1] if at + 1 < len(words) else ""
        name, _, value = word.partition("=")
        if name in _NAMING_REPORTER.get(runner, _REPORTER):
            return (value or following) not in _BUILT_IN_REPORTERS
        if own is not None and own.fullmatch(word):
            return True
        if not _REFUSED_OPTIONS.fullmatch(word):
            return False
        if not _OF_PYTEST.fullmatch(word):
            return True
        plain = word == "-p" and following.startswith("no:")
        return runner is RunnerKind.PYTEST and not plain

    return any(refused(at, word) for at, word in enumerate(words))
