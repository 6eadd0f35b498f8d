"""A copy has other values in the fields that are named, and the rest as it was."""

import pytest
from pydantic import Field

from patchwright.core.types.base import Value


class Pair(Value):
    first: int = 0
    renamed: str = Field("", alias="from", exclude=True)


PAIR = Pair.model_validate({"first": 1, "from": "x"})


def test_the_named_fields_change() -> None:
    copy = PAIR.replace(first=2)
    assert (copy.first, copy.renamed) == (2, "x")
    assert PAIR.first == 1
    assert copy.replace(first=1) == PAIR


def test_a_field_with_an_alias_goes_by_its_own_name() -> None:
    copy = PAIR.replace(renamed="y")
    assert (copy.first, copy.renamed) == (1, "y")


def test_what_is_changed_counts_as_set() -> None:
    assert Pair().replace(first=0).model_fields_set == {"first"}


def test_what_is_no_field_is_refused() -> None:
    wrong = {"frist": 2, "from": "y"}
    with pytest.raises(TypeError, match="Pair has no field frist, from"):
        PAIR.replace(**wrong)  # type: ignore[arg-type]
