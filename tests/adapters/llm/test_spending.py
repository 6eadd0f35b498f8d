"""Each try is reserved before it is made and settled after it, whatever comes back."""

import json
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from patchwright.core.agent.budget import RunBudget
from patchwright.core.llm.errors import (
    EmptyReplyError,
    ModelError,
    ModelUnavailableError,
    OverBudgetError,
    TokenLimitError,
)
from patchwright.core.llm.model import UserText
from tests.adapters.llm.asking import Waits, ask, model_at
from tests.fakes.clock import FakeClock
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import (
    USAGE,
    Turn,
    TurnLike,
    drop,
    hang,
    raw,
    say,
    status,
    with_usage,
)

PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
# What its usage says at those prices.
BILL_USD = 0.1 + 0.2


def message(**fields: JsonValue) -> Turn:
    """Answer with a message of exactly these fields."""
    choice = {"index": 0, "message": fields, "finish_reason": "stop"}
    return raw(json.dumps({"choices": [choice], "usage": USAGE}).encode())


def calling(arguments: JsonValue) -> Turn:
    function: JsonValue = {"name": "shell", "arguments": arguments}
    sent: JsonValue = {"id": "c", "type": "function", "function": function}
    return message(role="assistant", content=None, tool_calls=[sent])


@pytest.mark.parametrize(
    "turn",
    [
        message(role="assistant", content=[{"type": "text", "text": "Done."}]),
        message(role="assistant", content=[{"text": "Do"}, {"text": "ne."}]),
        message(role="model", content="Done."),
        message(content="Done.", tool_calls=[None]),
        message(role="assistant", content="Done.", reasoning_content=["hmm"]),
    ],
)
def test_h5_a_good_reply_in_an_odd_form_is_read_at_once_and_billed(turn: Turn) -> None:
    watch = Waits()
    with FakeProvider([turn]) as provider:
        reply = model_at(provider, PRICES).complete(ask(), watch)
        assert len(provider.requests) == 1
    assert reply.text == "Done."
    assert reply.usage.cost_usd == pytest.approx(BILL_USD)
    assert [one.cost_usd for one in watch.settled] == [pytest.approx(BILL_USD)]
    assert watch.seen == []


@pytest.mark.parametrize(
    "turn",
    [
        calling('{"command": ' + "1" * 5000 + "}"),
        calling('{"command": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        calling('{"command": ' + "[" * 300 + "]" * 300 + "}"),
        calling(["ls"]),
        message(content=None, tool_calls=[{"id": "c", "function": None}]),
        message(content=None, tool_calls={"id": "c"}),
    ],
)
def test_h5_a_call_that_cannot_be_run_is_told_to_the_model_at_once(turn: Turn) -> None:
    with FakeProvider([turn]) as provider:
        reply = model_at(provider, PRICES).complete(ask(), Waits())
        assert len(provider.requests) == 1
    [called] = reply.tool_calls
    assert called.arguments == "{}"
    assert called.id in reply.malformed
    assert "sys." not in reply.malformed[called.id]
    assert reply.usage.cost_usd == pytest.approx(BILL_USD)


UNREADABLE = [
    raw(b"<html>Sign in</html>", 200, "text/html"),
    raw(b"not json"),
    raw(b"[" * 100_000),
    raw(b'{"choices": [{"message": {"content": "x"}}], "usage": ' + b"9" * 5000 + b"}"),
    raw(b'{"choices": [{"index": 0, "finish_reason": "stop"}]}'),
    drop(),
]


@pytest.mark.parametrize("turn", UNREADABLE)
def test_h5_what_may_be_billed_is_repeated_little_and_counts_at_its_most(
    turn: Turn,
) -> None:
    watch, clock = Waits(), FakeClock()
    with FakeProvider(lambda _request: turn) as provider:
        model = model_at(provider, PRICES, clock=clock)
        worst_usd = model.ceiling_usd(ask()) or 0.0
        with pytest.raises(ModelUnavailableError) as caught:
            model.complete(ask(), watch)
        assert len(provider.requests) == 3
    assert [one.cost_usd for one in watch.settled] == [worst_usd] * 3
    assert caught.value.usage.cost_usd == pytest.approx(3 * worst_usd)
    assert clock.monotonic() < 10


@pytest.mark.parametrize("turn", UNREADABLE)
def test_h5_a_try_that_the_money_does_not_allow_is_not_made(turn: Turn) -> None:
    with FakeProvider(lambda _request: turn) as provider:
        model = model_at(provider, PRICES)
        worst_usd = model.ceiling_usd(ask()) or 0.0
        run_budget = RunBudget(1.5 * worst_usd, refuse_unknown=False)
        with pytest.raises(OverBudgetError) as caught:
            model.complete(ask(), Waits(run_budget))
        assert len(provider.requests) == 1
    assert caught.value.usage.cost_usd == pytest.approx(worst_usd)


def test_h5_an_answer_that_never_comes_counts_at_its_most() -> None:
    watch = Waits()
    with FakeProvider([hang()]) as provider:
        model = model_at(provider, PRICES)
        with pytest.raises(ModelUnavailableError) as caught:
            model.complete(ask(deadline_s=0.3), watch)
        worst_usd = model.ceiling_usd(ask())
    assert [one.cost_usd for one in watch.settled] == [worst_usd]
    assert caught.value.usage.cost_usd == worst_usd


@pytest.mark.parametrize("code", [408, 504, 524])
def test_h5_a_gateway_that_waits_no_longer_may_be_billed(code: int) -> None:
    watch = Waits()
    with FakeProvider(lambda _request: status(code)) as provider:
        with pytest.raises(ModelUnavailableError):
            model_at(provider, PRICES).complete(ask(), watch)
        assert len(provider.requests) == 3
    assert all(one.cost_usd for one in watch.settled)


@pytest.mark.parametrize("turn", [status(503), status(429), status(401), status(400)])
def test_what_is_refused_is_reserved_and_costs_nothing(turn: Turn) -> None:
    watch = Waits()
    with FakeProvider(lambda _request: turn) as provider, pytest.raises(ModelError):
        model_at(provider, PRICES).complete(ask(deadline_s=30.0), watch)
    assert watch.settled
    assert {one.cost_usd for one in watch.settled} == {0.0}


def test_an_address_where_nobody_listens_costs_nothing() -> None:
    with FakeProvider() as provider:
        model = model_at(provider, PRICES)
    with pytest.raises(ModelUnavailableError, match="connection refused") as caught:
        model.complete(ask(deadline_s=5.0), Waits())
    assert caught.value.usage.cost_usd == 0.0


def test_h5_an_answer_that_says_nothing_that_can_be_read_is_settled_as_it_counts() -> (
    None
):
    body = json.dumps({"choices": None, "usage": USAGE}).encode()
    watch = Waits()
    with (
        FakeProvider(lambda _request: raw(body)) as provider,
        pytest.raises(ModelUnavailableError),
    ):
        model_at(provider, PRICES).complete(ask(), watch)
    assert [one.cost_usd for one in watch.settled] == [pytest.approx(BILL_USD)] * 3


@pytest.mark.parametrize("turn", UNREADABLE)
def test_no_words_of_a_library_reach_people(turn: Turn) -> None:
    with FakeProvider(lambda _request: turn) as provider:
        with pytest.raises(ModelUnavailableError) as caught:
            model_at(provider).complete(ask(), Waits())
        host = provider.base_url.split("/")[2]
    begun = f"The model openai/some-model at {host} gave no usable answer in 3 s: "
    told = str(caught.value).removeprefix(begun)
    assert told in (
        "its answer has a form that cannot be read. Check `llm.base_url`.",
        "the connection broke before its answer. Check `llm.base_url`.",
    )


def test_h7_a_name_that_nobody_knows_costs_nothing_and_no_library_speaks() -> None:
    with FakeProvider() as provider:
        model = model_at(provider, {**PRICES, "model": "nobody-knows-this"})
        with pytest.raises(ModelError) as caught:
            model.complete(ask(), Waits())
    assert "litellm" not in str(caught.value).lower()
    assert caught.value.usage.cost_usd == 0.0


NOTHING: list[TurnLike] = [
    say(""),
    say("", finish_reason="length"),
    Turn(extra={"reasoning_content": "I think."}),
    message(role="assistant", content=[{"type": "thinking", "thinking": "hmm"}]),
]


@pytest.mark.parametrize("nothing", NOTHING)
def test_a_reply_that_is_empty_cut_off_or_only_thought_is_asked_for_again(
    nothing: TurnLike,
) -> None:
    with FakeProvider([nothing, nothing, "ok"]) as provider:
        model = model_at(provider, PRICES)
        # What is left allows one try at its most, and not two.
        left_usd = 1.5 * (model.ceiling_usd(ask()) or 0.0)
        watch = Waits(RunBudget(left_usd, refuse_unknown=False))
        assert model.complete(ask(), watch).text == "ok"
    assert len(watch.settled) == 3


def test_a_model_that_only_thinks_is_asked_no_more_than_three_times() -> None:
    thought = Turn(extra={"reasoning_content": "I think."})
    with (
        FakeProvider(lambda _request: thought) as provider,
        pytest.raises(EmptyReplyError, match="tries: 3"),
    ):
        model_at(provider, PRICES).complete(ask(), Waits())
    assert len(provider.requests) == 3


def test_h6_no_count_of_cached_tokens_refills_a_purse() -> None:
    settings = {**PRICES, "cached_cost_per_token": 0.0001}
    details = {"cached_tokens": 20_000}
    turn = with_usage("ok", prompt_tokens=50, prompt_tokens_details=details)
    watch = Waits()
    with FakeProvider([turn]) as provider:
        model_at(provider, settings).complete(ask(), watch)
    [settled] = watch.settled
    assert settled.cost_usd == pytest.approx(50 * 0.001 + 20_000 * 0.0001 + 0.2)


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
def test_h6_nor_where_the_table_has_the_prices(model: str) -> None:
    details = {"cached_tokens": 20_000}
    turn = with_usage("ok", prompt_tokens=50, prompt_tokens_details=details)
    with FakeProvider([turn]) as provider:
        settings = {"model": model.replace("anthropic/", "openai/")}
        usage = model_at(provider, settings).complete(ask(), Waits()).usage
    assert usage.cost_usd is None or usage.cost_usd > 0


def test_h7_a_reply_may_take_what_is_left_of_the_tokens() -> None:
    with FakeProvider(["ok"]) as provider:
        model_at(provider).complete(ask(tokens_left=3000), Waits())
    [sent] = provider.requests
    assert 1024 < sent["max_tokens"] < 3000


def test_h7_no_call_is_made_that_could_pass_the_tokens() -> None:
    with FakeProvider(["ok"]) as provider:
        with pytest.raises(TokenLimitError):
            model_at(provider).complete(ask(tokens_left=1000), Waits())
        assert provider.requests == []


def test_h7_tries_that_came_to_nothing_take_of_the_tokens_too() -> None:
    with FakeProvider([say(""), "never"]) as provider:
        request = ask(tokens_left=1500)
        with pytest.raises(TokenLimitError) as caught:
            model_at(provider).complete(request, Waits())
        assert len(provider.requests) == 1
    assert caught.value.usage.tokens_in == 100


@pytest.mark.parametrize("settings", [{}, PRICES, {"model": "openai/gpt-4o"}])
def test_what_is_reserved_for_a_reply_is_what_it_may_be(
    settings: dict[str, object],
) -> None:
    watch = Waits()
    with FakeProvider([drop()] * 3) as provider, pytest.raises(ModelUnavailableError):
        model_at(provider, settings).complete(ask(), watch)
    [first, *_] = provider.requests
    assert watch.settled[0].tokens_out == first["max_tokens"]


OTHER_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)
SMALL = (
    "max_tokens is too large: 16384. This model supports at most 4096 completion "
    "tokens, whereas you provided 16384."
)


def refusing(text: str, is_refused: Callable[[dict[str, JsonValue]], bool]) -> Waits:
    """Make two calls of a model that refuses some requests; return what was paid."""
    watch = Waits()
    with FakeProvider(
        lambda sent: status(400, text) if is_refused(sent) else "ok"
    ) as provider:
        model = model_at(provider, PRICES)
        for _ in range(2):
            assert model.complete(ask(), watch).text == "ok"
        # The second call knows already how the model wants it.
        assert len(provider.requests) == 3
    return watch


def test_a_model_with_another_name_for_its_longest_reply_is_told_by_that() -> None:
    watch = refusing(OTHER_NAME, lambda sent: "max_tokens" in sent)
    assert [bool(one.cost_usd) for one in watch.settled] == [False, True, True]


def test_a_model_with_shorter_replies_is_asked_for_those() -> None:
    def is_refused(sent: dict[str, JsonValue]) -> bool:
        limit = sent["max_tokens"]
        return isinstance(limit, int) and limit > 4096

    refusing(SMALL, is_refused)


def test_a_long_prompt_in_any_script_is_reserved_by_its_bytes() -> None:
    long = ask(UserText(text="数" * 1000))
    with FakeProvider() as provider:
        model = model_at(provider, PRICES)
        more_usd = (model.ceiling_usd(long) or 0) - (model.ceiling_usd(ask()) or 0)
    assert more_usd >= 3000 * 0.001
