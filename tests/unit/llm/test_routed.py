"""Models that stand in for each other stay within one budget and one deadline."""

import pytest

from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import (
    ModelCredentialError,
    ModelDeclinedError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
    OverBudgetError,
)
from patchwright.core.llm.model import ModelRequest, UserText
from patchwright.core.llm.routing import RoutedModel
from patchwright.core.types.work import Usage
from tests.adapters.llm.asking import Waits
from tests.fakes.clock import FakeClock
from tests.fakes.scripted_model import ScriptedModel, Step, reply

REQUEST = ModelRequest(messages=(UserText(text="hi"),), tokens_left=1000)
DOWN = ModelUnavailableError("Down.")


def billed(cost_usd: float) -> ModelDeclinedError:
    return ModelDeclinedError("No.", Usage(cost_usd=cost_usd, tokens_in=7))


def one_dollar() -> Waits:
    return Waits(RunBudget(1.0, refuse_unknown=False))


def model(*steps: Step, name: str, ceiling: float | None = 0.1) -> ScriptedModel:
    return ScriptedModel(steps, name=name, ceiling=ceiling)


def test_s58_the_next_model_answers_if_one_does_not_and_says_so() -> None:
    def answer(_request: ModelRequest) -> ModelReply:
        return reply("ok").replace(model="second")

    first, second = model(DOWN, name="first"), model(answer, name="second")
    routed = RoutedModel([first, second], FakeClock())
    assert routed.name == "first"
    assert routed.complete(REQUEST).model == "second"


def test_a_model_that_failed_is_left_alone_for_a_while() -> None:
    clock = FakeClock()
    first = model(DOWN, reply("back"), name="first")
    second = model(reply("a"), reply("b"), name="second")
    routed = RoutedModel([first, second], clock)
    assert routed.complete(REQUEST).text == "a"
    assert routed.complete(REQUEST).text == "b"
    clock.advance(301)
    assert routed.complete(REQUEST).text == "back"


def test_one_that_declined_is_asked_again_the_next_time() -> None:
    first = model(billed(0.0), reply("sure"), name="first")
    second = model(reply("ok"), name="second")
    routed = RoutedModel([first, second], FakeClock())
    assert routed.complete(REQUEST).text == "ok"
    assert routed.complete(REQUEST).text == "sure"


def test_s66_the_cost_of_all_tries_is_added_up_and_subtracted() -> None:
    first = model(billed(0.25), name="first")
    second = model(reply("ok", cost_usd=0.125), name="second")
    usage = RoutedModel([first, second], FakeClock()).complete(REQUEST).usage
    assert (usage.cost_usd, usage.tokens_in) == (0.375, 17)
    assert second.requests[0].tokens_left == 993


def test_s66_a_model_that_could_pass_the_budget_is_not_asked() -> None:
    first = model(billed(0.5), name="first")
    dear = model(reply("never"), name="dear", ceiling=0.6)
    cheap = model(reply("ok"), name="cheap", ceiling=0.5)
    routed = RoutedModel([first, dear, cheap], FakeClock())
    assert routed.complete(REQUEST, one_dollar()).text == "ok"
    assert dear.requests == []


def test_s66_when_no_other_can_be_paid_the_error_carries_the_bill() -> None:
    first = model(billed(0.5), name="first")
    dear = model(reply("never"), name="dear", ceiling=0.6)
    with pytest.raises(ModelDeclinedError) as caught:
        RoutedModel([first, dear], FakeClock()).complete(REQUEST, one_dollar())
    assert caught.value.usage.cost_usd == 0.5
    assert dear.requests == []


def test_s66_the_limit_is_that_of_the_most_expensive_model() -> None:
    models = [model(name="a", ceiling=0.1), model(name="b", ceiling=0.7)]
    assert RoutedModel(models, FakeClock()).ceiling_usd(REQUEST) == 0.7


def test_h4_the_dearest_known_price_is_the_ceiling_where_another_is_unknown() -> None:
    known = model(name="a", ceiling=0.1)
    unknown = model(name="b", ceiling=None)
    assert RoutedModel([unknown, known], FakeClock()).ceiling_usd(REQUEST) == 0.1
    assert RoutedModel([unknown], FakeClock()).ceiling_usd(REQUEST) is None


def test_h4_the_cap_holds_where_a_fallback_has_no_price() -> None:
    dear = model(reply("never"), name="dear", ceiling=1.1)
    spare = model(reply("never"), name="spare", ceiling=None)
    with pytest.raises(OverBudgetError, match=r"up to \$1\.10"):
        RoutedModel([dear, spare], FakeClock()).complete(REQUEST, one_dollar())
    assert (dear.requests, spare.requests) == ([], [])


def test_h4_a_fallback_without_a_price_is_refused_when_its_turn_comes() -> None:
    refusing = Waits(RunBudget(9.0, refuse_unknown=True))
    first = model(reply("ok"), DOWN, name="first")
    spare = model(reply("never"), name="spare", ceiling=None)
    routed = RoutedModel([first, spare], FakeClock())
    assert routed.complete(REQUEST, refusing).text == "ok"
    with pytest.raises(ModelUnavailableError):
        routed.complete(REQUEST, refusing)
    assert spare.requests == []


def test_a_wrong_request_is_nobody_elses_business() -> None:
    first = model(ModelRequestError("Bad."), name="first")
    second = model(reply("never"), name="second")
    with pytest.raises(ModelRequestError):
        RoutedModel([first, second], FakeClock()).complete(REQUEST)
    assert second.requests == []


def test_when_all_fail_every_reason_is_told() -> None:
    first = model(ModelCredentialError("No key."), name="first")
    second = model(ModelRateLimitError("Too fast."), name="second")
    with pytest.raises(ModelRateLimitError, match=r"^No key\. Too fast\.$"):
        RoutedModel([first, second], FakeClock()).complete(REQUEST)


def test_no_model_uses_up_the_time_of_the_next() -> None:
    clock = FakeClock()

    def slow(request: ModelRequest) -> ModelReply:
        clock.advance(request.deadline_s)
        raise DOWN

    first, second = model(slow, name="first"), model(reply("ok"), name="second")
    RoutedModel([first, second], clock).complete(REQUEST)
    assert first.requests[0].deadline_s == 300.0
    assert second.requests[0].deadline_s == 300.0
