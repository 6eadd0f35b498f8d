"""A chat is condensed before it outgrows the window; the reserve gives way first."""

import pytest

from patchwright.core.llm.model import (
    LEAST_OUTPUT,
    ModelCapabilities,
    needs_condensing,
    output_allowed,
    output_reserve,
    prompt_budget,
)

CLAUDE = ModelCapabilities(context_window=204_648, max_output_tokens=8192)
SMALL = ModelCapabilities(context_window=8192, max_output_tokens=8192)


@pytest.mark.parametrize(
    ("tokens", "tail_bytes", "due"),
    [
        (0, 0, False),
        (166_900, 0, False),
        (167_000, 0, True),
        (166_000, 3000, True),
        (0, 600_000, True),
        (196_973, 0, True),
    ],
)
def test_s63_condensing_is_due_by_the_window_minus_the_reserve(
    tokens: int,
    tail_bytes: int,
    due: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert needs_condensing(tokens, tail_bytes, CLAUDE) is due


def test_an_unknown_window_is_taken_for_a_usual_one() -> None:
    unknown = ModelCapabilities()
    assert prompt_budget(unknown) == 128_000 - 8192
    assert not needs_condensing(101_000, 0, unknown)
    assert needs_condensing(102_000, 0, unknown)


def test_the_reserve_leaves_a_small_window_most_of_its_room() -> None:
    assert output_reserve(SMALL) == 2048
    assert prompt_budget(SMALL) == 6144


@pytest.mark.parametrize(
    ("prompt_tokens", "allowed"),
    [(1000, 7192), (6000, 2192), (8000, LEAST_OUTPUT), (30_000, LEAST_OUTPUT)],
)
def test_s63_the_reserve_is_lowered_near_the_edge(
    prompt_tokens: int, allowed: int
) -> None:
    assert output_allowed(SMALL, prompt_tokens) == allowed


def test_what_nobody_knows_lowers_nothing() -> None:
    assert output_allowed(ModelCapabilities(max_output_tokens=99), 10**9) == 99
    assert output_allowed(ModelCapabilities(context_window=99), 10**9) is None
