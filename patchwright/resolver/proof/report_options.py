"""Say how a call is run so that its runner writes a report where we read it.

Reports are made by options and variables that runners have for it, or by a reporter of
ours. They are shell text: `folder` must be a word that needs no quotes.
"""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.resolver.proof.runner_calls import TestCall, with_python_path
from patchwright.resolver.proof.runners import RunnerKind
from patchwright.sandbox.inside import pytest_recorder, unittest_recorder

PYTEST_RECORDS: Final = "pytest.jsonl"
PYTEST_XML: Final = "pytest.xml"
UNITTEST_RECORDS: Final = "unittest.jsonl"
NODE_RECORDS: Final = "node.jsonl"
MOCHA_RECORDS: Final = "mocha.jsonl"
JEST_JSON: Final = "jest.json"
RSPEC_JSON: Final = "rspec.json"
PHPUNIT_XML: Final = "phpunit.xml"
CTEST_XML: Final = "ctest.xml"
# The XML files of all modules, each behind a zero byte.
JAVA_XML: Final = "java.xml"
# Where the repository is, with a line break.
ROOT: Final = "root"

# Python programs take these, also through tox, which else keeps variables out.
_PASSED_ON: Final = ("PYTHONPATH", "PYTEST_ADDOPTS", "PATCHWRIGHT_*")


def reporting_script(call: TestCall, folder: str, recipe: str) -> str:
    """Return the commands that run a call; `recipe` is what its scripts run."""
    command = with_python_path(_with_arguments(call, _arguments(call, folder)))
    if call.runner in (RunnerKind.MAVEN, RunnerKind.GRADLE):
        command = _collecting_xml(command, folder)
    lines = [
        f'pwd >"{folder}/{ROOT}"',
        f"export {' '.join(_variables(folder, _tox_environments(call, recipe)))}",
    ]
    if call.runner in (RunnerKind.NODE, RunnerKind.SCRIPT) and not re.search(
        r"--test-reporter", call.command + recipe
    ):
        lines.append(_node_options(folder))
    return "\n".join([*lines, command])


def plain_script(command: str) -> str:
    """Return the commands that run what is no call; a pipe hides no exit code."""
    return f"(set -o pipefail) 2>/dev/null && set -o pipefail\n{command}"


def _variables(folder: str, environments: Sequence[str]) -> tuple[str, ...]:
    passed = ",".join(_PASSED_ON)
    sections = ("testenv", *(f"testenv:{name}" for name in environments))
    overrides = ";".join(f"{section}.pass_env+={passed}" for section in sections)
    junit = f"--junitxml={folder}/{PYTEST_XML} -o junit_family=xunit1"
    return (
        f'PYTHONPATH={folder}"${{PYTHONPATH:+:$PYTHONPATH}}"',
        f'{pytest_recorder.ROOT_VARIABLE}="$(pwd)"',
        f"{unittest_recorder.VARIABLE}={folder}/{UNITTEST_RECORDS}",
        f"{pytest_recorder.VARIABLE}={folder}/{PYTEST_RECORDS}",
        f"PATCHWRIGHT_NODE_REPORT={folder}/{NODE_RECORDS}",
        f"PATCHWRIGHT_MOCHA_REPORT={folder}/{MOCHA_RECORDS}",
        f'PYTEST_ADDOPTS="$PYTEST_ADDOPTS {junit}"',
        f'TOX_TESTENV_PASSENV="{" ".join(_PASSED_ON)}"',
        f'TOX_OVERRIDE="{overrides}"',
        'GOFLAGS="$GOFLAGS -json"',
        f'SPEC_OPTS="--format progress --format json --out {folder}/{RSPEC_JSON}"',
    )


def _tox_environments(call: TestCall, recipe: str) -> list[str]:
    """Return the environments that may have their own list of what is passed on."""
    if not re.search(r"\btox\b", call.prefix + recipe):
        return []
    named = re.findall(r"(?:^|\s)-e[ =]?([\w.,-]+)", call.command)
    listed = re.findall(r"^\[testenv:([\w.-]+)\]", recipe, re.MULTILINE)
    return sorted({*",".join(named).split(","), *listed} - {"", "ALL"})


def _node_options(folder: str) -> str:
    """Set the reporter for releases of Node that have such an option."""
    own = f"--test-reporter={folder}/node_reporter.mjs"
    options = (
        f"{own} --test-reporter-destination=stderr "
        "--test-reporter=spec --test-reporter-destination=stdout"
    )
    return (
        "if NODE_OPTIONS=--test-reporter=spec node --version >/dev/null 2>&1; then "
        f'export NODE_OPTIONS="$NODE_OPTIONS {options}"; fi'
    )


def _arguments(call: TestCall, folder: str) -> str:
    match call.runner:
        case RunnerKind.JEST:
            return f"--json --outputFile={folder}/{JEST_JSON}"
        case RunnerKind.VITEST:
            named = any(w.value.startswith("--reporter") for w in call.arguments)
            usual = "" if named else "--reporter=default "
            return f"{usual}--reporter=json --outputFile.json={folder}/{JEST_JSON}"
        case RunnerKind.MOCHA:
            return f"--reporter {folder}/mocha_reporter.cjs"
        case RunnerKind.PHPUNIT:
            return f"--log-junit {folder}/{PHPUNIT_XML}"
        case RunnerKind.CARGO:
            return "--no-fail-fast"
        case RunnerKind.CTEST:
            return (
                "$(ctest --help 2>/dev/null | grep -q -e --output-junit && "
                f"echo --output-junit {folder}/{CTEST_XML})"
            )
        case _:
            return ""


def _with_arguments(call: TestCall, added: str) -> str:
    """Add arguments to a call, before those that are the test programs' own."""
    raw = [word.raw for word in call.arguments]
    at = raw.index("--") if "--" in raw else len(raw)
    return " ".join(filter(None, [call.prefix, *raw[:at], added, *raw[at:]]))


def _collecting_xml(command: str, folder: str) -> str:
    """Let the XML be gathered that was written meanwhile, wherever a module has it."""
    names = ("*/surefire-reports/TEST-*.xml", "*/failsafe-reports/TEST-*.xml")
    where = " -o ".join(f"-path '{one}'" for one in (*names, _GRADLE_XML))
    gather = '\'for file; do printf "\\0"; cat "$file"; done\''
    return (
        f"touch {folder}/begun\n({command})\ncode=$?\n"
        f"find . \\( {where} \\) -newer {folder}/begun "
        f"-exec sh -c {gather} sh {{}} + >{folder}/{JAVA_XML}\n(exit $code)"
    )


_GRADLE_XML: Final = "*/test-results/*TEST-*.xml"
