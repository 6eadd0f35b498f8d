"""Write `docs/field-reports.md` from the names of the tests."""

import re
from collections import defaultdict
from typing import Final

from tests.architecture.tree import modules

_NAMED: Final = re.compile(r"def test_s(\d\d)_(\w+)")
_HEAD: Final = """\
# Field reports

People have reported the same faults of such bots in public again and again. Each kind
of fault has a number here, and tests whose names begin with this number and say what
Patchwright does instead: `grep -rn test_s21_ tests` finds the tests of report S-21.
This page is generated from their names.
"""


def page() -> str:
    parts = [_section(number, said) for number, said in sorted(_sentences().items())]
    return "".join([_HEAD, *parts])


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
