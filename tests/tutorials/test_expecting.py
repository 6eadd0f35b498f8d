"""What a page says is seen, against what is seen."""

import pytest

from tests.tutorials.expecting import is_in_networks, is_seen


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("one", "one\n"),
        ("one", "\none  \n\n"),
        ("o… two", "one and two"),
        ("one\n…", "one"),
        ("one\n…", "one\ntwo\nthree"),
        ("…\nthree", "one\ntwo\nthree"),
        ("one\n…\nthree", "one\nthree"),
        ("…", ""),
        ("costs $0.1 (all)", "costs $0.1 (all)"),
    ],
)
def test_what_is_left_out_may_be_anything(expected: str, output: str) -> None:
    assert is_seen(expected, output)


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("one", "one\ntwo"),
        ("two", "one\ntwo"),
        ("one\n…\nthree", "one\ntwo"),
        ("one", ""),
        ("o.e", "one"),
    ],
)
def test_the_rest_is_to_be_there_and_no_more(expected: str, output: str) -> None:
    assert not is_seen(expected, output)


def test_what_still_runs_may_say_more_before_and_after() -> None:
    assert is_in_networks("two\nthree", "one\ntwo\nthree\nfour")
    assert not is_in_networks("two", "one\ntwo and a half\nthree")
