"""Money is reserved before a try and settled after it."""

import math

import pytest

from patchwright.core.agent.budget import DelegateBudget, RunBudget
from patchwright.core.llm.errors import OverBudgetError
from patchwright.core.types.work import Usage

UNKNOWN = Usage(tokens_in=900, tokens_out=100)


def usd(amount: float) -> Usage:
    return Usage(cost_usd=amount)


def test_a_call_may_cost_all_that_is_left() -> None:
    run_budget = RunBudget(1.0, spent_usd=0.25, refuse_unknown=False)
    run_budget.reserve(usd(0.75))


def test_what_is_paid_in_parts_is_paid_to_the_last_one() -> None:
    run_budget = RunBudget(2.6, refuse_unknown=False)
    for _ in range(26):
        run_budget.reserve(usd(0.1))(usd(0.1))
    with pytest.raises(OverBudgetError):
        run_budget.reserve(usd(0.000_001))


def test_s66_one_cent_above_the_budget_is_refused() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    run_budget.reserve(usd(0.5))(usd(0.5))
    with pytest.raises(OverBudgetError, match=r"\$0\.50 of \$1\.00 is spent"):
        run_budget.reserve(usd(0.51))


def test_a_reservation_is_replaced_by_what_was_spent() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    for _ in range(4):
        run_budget.reserve(usd(0.25))(usd(0.2))
    run_budget.reserve(usd(0.2))


def test_two_reservations_are_settled_each_on_its_own() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    first, second = run_budget.reserve(usd(0.4)), run_budget.reserve(usd(0.5))
    first(usd(0.0))
    with pytest.raises(OverBudgetError):
        run_budget.reserve(usd(0.6))
    second(usd(0.1))
    run_budget.reserve(usd(0.9))


def test_without_a_price_the_dearest_call_so_far_stands_in() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    for spent in (0.1, 0.6, 0.1):
        run_budget.reserve(usd(0.0))(usd(spent))
    with pytest.raises(OverBudgetError, match=r"could cost up to \$0\.60"):
        run_budget.reserve(UNKNOWN)


def test_h4_an_unknown_price_is_reserved_before_anybody_has_told_one() -> None:
    run_budget = RunBudget(0.9, refuse_unknown=False, unknown_cost_per_token=0.001)
    with pytest.raises(OverBudgetError, match=r"could cost up to \$1\.00"):
        run_budget.reserve(UNKNOWN)


def test_what_nobody_says_the_cost_of_leaves_the_rest_as_it_was() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False, unknown_cost_per_token=0.001)
    for _ in range(5):
        run_budget.reserve(UNKNOWN)(UNKNOWN)
    run_budget.reserve(usd(1.0))


def test_p4_a_call_without_a_price_can_be_refused() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=True)
    with pytest.raises(OverBudgetError, match="price is not known"):
        run_budget.reserve(UNKNOWN)


def test_h4_a_price_of_another_model_makes_no_unknown_price_known() -> None:
    run_budget = RunBudget(1.0, refuse_unknown=True)
    run_budget.reserve(usd(0.1))(usd(0.1))
    with pytest.raises(OverBudgetError, match="price is not known"):
        run_budget.reserve(UNKNOWN)


def test_s67_a_price_of_zero_is_a_price() -> None:
    RunBudget(0.0, refuse_unknown=True).reserve(usd(0.0))


@pytest.mark.parametrize("told", [-5.0, -math.inf, math.inf, math.nan])
def test_h6_what_is_no_amount_counts_as_the_most(told: float) -> None:
    run_budget = RunBudget(1.0, refuse_unknown=False)
    run_budget.reserve(usd(0.6))(usd(told))
    run_budget.reserve(usd(0.4))(usd(0.0))
    with pytest.raises(OverBudgetError):
        run_budget.reserve(usd(0.41))


def test_h4_a_delegate_s_part_holds_where_no_price_is_known() -> None:
    whole = RunBudget(9.0, refuse_unknown=False)
    part = DelegateBudget(whole, 0.001, spent_usd=0.0)
    with pytest.raises(OverBudgetError):
        part.reserve(UNKNOWN)
