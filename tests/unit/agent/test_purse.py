"""Money is reserved before a call and settled after it."""

import pytest

from patchwright.core.agent.purse import OverBudgetError, RunPurse


def test_a_call_may_cost_all_that_is_left() -> None:
    purse = RunPurse(1.0, spent_usd=0.25, refuse_unknown=False)
    assert purse.reserve(0.75) == 0.75


def test_what_is_paid_in_parts_is_paid_to_the_last_one() -> None:
    purse = RunPurse(2.6, refuse_unknown=False)
    for _ in range(26):
        assert purse.reserve(0.1) >= 0.1
        purse.settle(0.1)
    with pytest.raises(OverBudgetError):
        purse.reserve(0.000_001)


def test_s66_one_cent_too_much_is_too_much() -> None:
    purse = RunPurse(1.0, refuse_unknown=False)
    purse.reserve(0.5)
    purse.settle(0.5)
    with pytest.raises(OverBudgetError, match=r"\$0\.50 of \$1\.00 is spent"):
        purse.reserve(0.51)


def test_a_reservation_is_replaced_by_what_was_spent() -> None:
    purse = RunPurse(1.0, refuse_unknown=False)
    for _ in range(4):
        purse.reserve(0.25)
        purse.settle(0.2)
    assert purse.reserve(0.2) == pytest.approx(0.2)


def test_without_a_price_the_dearest_call_so_far_stands_in() -> None:
    purse = RunPurse(1.0, refuse_unknown=False)
    for spent in (0.1, 0.6, 0.1):
        purse.settle(spent)
    with pytest.raises(OverBudgetError, match=r"could cost up to \$0\.60"):
        purse.reserve(None)


def test_an_unknown_cost_changes_nothing() -> None:
    purse = RunPurse(1.0, refuse_unknown=False)
    purse.settle(None)
    assert purse.reserve(None) == 1.0


def test_p4_the_first_call_without_a_price_can_be_refused() -> None:
    purse = RunPurse(1.0, refuse_unknown=True)
    with pytest.raises(OverBudgetError, match="price is not known"):
        purse.reserve(None)


def test_a_figure_of_the_provider_makes_a_price_known() -> None:
    purse = RunPurse(1.0, refuse_unknown=True)
    purse.reserve(0.1)
    purse.settle(0.1)
    assert purse.reserve(None) == 0.9


def test_s67_a_price_of_zero_is_a_price() -> None:
    purse = RunPurse(0.0, refuse_unknown=True)
    assert purse.reserve(0.0) == 0.0
