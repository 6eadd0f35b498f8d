"""Tools get names that any provider takes, the same ones each time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.mcp import tool_name

FIT = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def test_a_name_that_is_fit_stays_as_it_is() -> None:
    assert tool_name("time", "get_current-time") == "time__get_current-time"


def test_two_names_that_look_alike_stay_apart() -> None:
    dotted, spaced = tool_name("s", "read.file"), tool_name("s", "read file")
    assert dotted.startswith("s__read_file_")
    assert dotted != spaced
    assert tool_name("s", "read.file") == dotted


def test_two_long_names_with_the_same_beginning_stay_apart() -> None:
    first, second = tool_name("s", "x" * 80), tool_name("s", "x" * 81)
    assert len(first) == len(second) == 64
    assert first != second


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,31}\Z"), st.text())
def test_every_name_is_fit(server: str, tool: str) -> None:
    assert FIT.match(tool_name(server, tool))
