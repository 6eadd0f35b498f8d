"""The type checker knows which fields a copy of a value may change, and to what."""

import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT

PREAMBLE = """\
from typing import Annotated, Generic, TypeVar
from pydantic import Field
from patchwright.core.types.base import Value

T = TypeVar("T")
Any_ = TypeVar("Any_", bound="Pair")

class Pair(Value):
    first: int = 0
    renamed: str = Field("", alias="from")

class Triple(Pair):
    third: tuple[int, ...] | None = None

class Box(Value, Generic[T]):
    held: T

class Labelled(Value):
    third: tuple[int, ...]
    label: str

def change(pair: Pair, triple: Triple, box: Box[int], one: Triple | Labelled) -> None:
"""
ACCEPTED = """\
    pair.replace()
    pair.replace(first=1, renamed="x").replace(first=2).first.bit_length()
    triple.replace(first=1, third=None).third
    box.replace(held=1).held.bit_length()
    one.replace(third=(1, 2))
    "a".replace("a", "b")
"""
REFUSED = """\
    pair.replace(frist=1)
    pair.replace(first="1")
    pair.replace({"first": 1})
    triple.replace(first=None)
    triple.replace(third=[1])
    box.replace(held="1")
    one.replace(label="x")
    pair.replace(**{"first": "1"})
    pair.replace(first=1).second

def change_any(value: Any_) -> Any_:
    return value.replace(first=1)
"""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Check all at once: what takes long is to read the libraries."""
    folder = tmp_path_factory.mktemp("mypy")
    sample = folder / "sample.py"
    sample.write_text(PREAMBLE + ACCEPTED + REFUSED)
    argv = ["--cache-dir", str(folder / "cache"), "--no-pretty", str(sample)]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *argv],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = checked.stdout.splitlines()
    found = [line for line in lines if ": error: " in line]
    assert found, checked.stdout + checked.stderr
    return found


def test_fields_are_accepted(complaints: list[str]) -> None:
    before = PREAMBLE.count("\n") + ACCEPTED.count("\n")
    assert [one for one in complaints if _line(one) <= before] == []


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("pair.replace(frist=1)", 'Unexpected keyword argument "frist"'),
        ('pair.replace(first="1")', 'incompatible type "str"; expected "int"'),
        ('pair.replace({"first": 1})', "Too many positional arguments"),
        ("triple.replace(first=None)", 'incompatible type "None"; expected "int"'),
        ("triple.replace(third=[1])", 'expected "tuple[int, ...] | None"'),
        ('box.replace(held="1")', 'incompatible type "str"; expected "int"'),
        ('one.replace(label="x")', 'Unexpected keyword argument "label"'),
        ('pair.replace(**{"first": "1"})', 'expected "int"'),
        ("pair.replace(first=1).second", '"Pair" has no attribute "second"'),
        ("value.replace(first=1)", 'expected "Never"'),
    ],
)
def test_anything_else_is_refused(
    complaints: list[str], call: str, complaint: str
) -> None:
    lines = (PREAMBLE + ACCEPTED + REFUSED).splitlines()
    about = [one for one in complaints if lines[_line(one) - 1].endswith(call)]
    assert any(complaint in one for one in about), complaints


def _line(complaint: str) -> int:
    return int(complaint.split(":")[1])
