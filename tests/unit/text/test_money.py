"""Amounts are written so that little does not look like nothing."""

import pytest

from patchwright.core.text.strings import dollars


@pytest.mark.parametrize(
    ("amount_usd", "written"),
    [
        (0.0, "$0.00"),
        (0.0021, "$0.0021"),
        (0.0099, "$0.0099"),
        (0.01, "$0.01"),
        (0.414, "$0.41"),
        (12.0, "$12.00"),
    ],
)
def test_less_than_a_cent_is_written_finer(amount_usd: float, written: str) -> None:
    assert dollars(amount_usd) == written
