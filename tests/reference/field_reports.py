"""Write `docs/field-reports.md` from the names of the tests."""

import re
from collections import defaultdict
from typing import Final

from tests.architecture.tree import modules

_NAMED: Final = re.compile(r"def test_s(\d\d)_(\w+)")
_HEAD: Final = """\
# Field reports

Bots of this kind fail in ways that people have reported in public again and again.
Each kind of fault has a number here, and tests whose names begin with it and say what
holds instead: `grep -rn test_s21_ tests` finds those of report S-21. This page is made
of their names.

These have no test of their own yet:

| | what it is about | why not |
|---|---|---|
"""
# What each is about, and why nothing shows it yet.
UNTESTED: Final = {
    15: ("an own GitLab server", "GitLab is not served yet"),
    16: ("rights inherited in GitLab groups", "GitLab is not served yet"),
}
_BETWEEN: Final = """
Of S-17 one half is kept: a token in place of a signature opens none of our doors. The
other, GitLab's own door, is not there yet.
"""


def page() -> str:
    untested = (
        f"| S-{number:02} | {about} | {why} |\n"
        for number, (about, why) in sorted(UNTESTED.items())
    )
    parts = [_section(number, said) for number, said in sorted(_sentences().items())]
    return "".join([_HEAD, *untested, _BETWEEN, *parts])


def shown() -> frozenset[int]:
    return frozenset(_sentences())


def _sentences() -> dict[int, list[str]]:
    """Return what the tests of each report say, each sentence once."""
    found: dict[int, set[str]] = defaultdict(set)
    for module in modules("tests/"):
        for number, words in _NAMED.findall(module.text):
            found[int(number)].add(words.replace("_", " "))
    return {number: sorted(said) for number, said in found.items()}


def _section(number: int, said: list[str]) -> str:
    return "".join([f"\n## S-{number:02}\n\n", *(f"- {one}\n" for one in said)])
