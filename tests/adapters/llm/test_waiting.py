"""Trouble that may pass is waited for; trouble that will not is named at once."""

import pytest

from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.observations import ProviderWait, WaitCause
from patchwright.core.llm.errors import (
    ContextWindowError,
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
    OverBudgetError,
)
from patchwright.core.llm.model import UserText
from patchwright.core.llm.waiting import FIRST_CALL
from tests.adapters.llm.asking import Waits, ask, model_at
from tests.fakes.clock import FakeClock
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import (
    Turn,
    TurnLike,
    call,
    drop,
    no_choices,
    raw,
    say,
    status,
)

PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
BILLED = {"prompt_tokens": 100, "completion_tokens": 1}


def test_s58_it_waits_through_seventy_seconds_of_429_and_reports_it() -> None:
    clock = FakeClock()
    watch = Waits()

    def limit(_request: object) -> TurnLike:
        return "ok" if clock.monotonic() >= 70 else status(429, "slow down")

    with FakeProvider(limit) as provider:
        assert model_at(provider, clock=clock).complete(ask(), watch).text == "ok"
    waits_s = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert [one.seconds for one in watch.seen] == waits_s
    assert {one.cause for one in watch.seen} == {WaitCause.RATE_LIMITED}
    assert clock.slept == waits_s
    assert len(provider.requests) == len(waits_s) + 1


@pytest.mark.parametrize(
    ("retry_after", "wait_s"), [("7", 8.0), ("Tue, 01 Jan 2030 12:00:40 GMT", 41.0)]
)
def test_s58_retry_after_is_obeyed(retry_after: str, wait_s: float) -> None:
    clock = FakeClock()
    with FakeProvider([status(429, Retry_After=retry_after), "ok"]) as provider:
        model_at(provider, clock=clock).complete(ask())
    assert clock.slept == [wait_s]


def test_s58_nobody_waits_past_the_deadline() -> None:
    clock = FakeClock()
    with FakeProvider([status(429, Retry_After="3600")]) as provider:
        with pytest.raises(ModelRateLimitError) as caught:
            model_at(provider, clock=clock).complete(ask())
        host = provider.base_url.split("/")[2]
    assert str(caught.value) == (
        f"The model openai/some-model at {host} is rate-limited, and asks for 3600 s "
        "more, which is past the deadline: status 429."
    )
    assert clock.slept == []


def test_s58_a_rate_limit_that_stays_ends_the_call_at_the_deadline() -> None:
    clock = FakeClock()
    with (
        FakeProvider(lambda _request: status(429)) as provider,
        pytest.raises(ModelRateLimitError, match="123 s of waiting"),
    ):
        model_at(provider, clock=clock).complete(ask(deadline_s=150.0))


@pytest.mark.parametrize(
    "trouble",
    [
        status(500),
        status(502),
        status(503, Retry_After="2"),
        status(529, "overloaded"),
        raw(b"<html>Bad gateway</html>", 502, "text/html"),
        raw(b"<html>Sign in</html>", 200, "text/html"),
        raw(b"not json"),
        raw(b""),
        raw(b'{"choices": [{"index": 0, "finish_reason": "stop"}]}'),
        raw(b'{"error": {"message": "upstream overloaded", "code": 502}}'),
    ],
)
def test_a_passing_trouble_of_the_server_is_waited_for(trouble: Turn) -> None:
    clock = FakeClock()
    with FakeProvider([trouble, trouble, "ok"]) as provider:
        assert model_at(provider, clock=clock).complete(ask()).text == "ok"
    assert len(clock.slept) == 2


def test_a_server_that_stays_down_is_given_up_after_minutes() -> None:
    clock = FakeClock()
    with (
        FakeProvider(lambda _request: status(503, "maintenance")) as provider,
        pytest.raises(ModelUnavailableError, match=r"maintenance\. Check `llm.b"),
    ):
        model_at(provider, clock=clock).complete(ask())
    assert 60 < clock.monotonic() < 300


def test_an_address_where_nobody_listens_is_named() -> None:
    clock, watch = FakeClock(), Waits()
    with FakeProvider() as provider:
        model = model_at(provider, clock=clock, first_call=FIRST_CALL)
    with pytest.raises(ModelUnavailableError) as caught:
        model.complete(ask(), watch)
    host = provider.base_url.split("/")[2]
    assert str(caught.value) == (
        f"Cannot reach the model openai/some-model at {host} (connection refused); "
        "gave up after 15 s. Check `llm.base_url`."
    )
    assert watch.seen[2] == ProviderWait(
        cause=WaitCause.UNREACHABLE,
        seconds=4.0,
        model="openai/some-model",
        host=host,
        detail="connection refused",
        next_try=4,
        most_tries=5,
    )
    assert clock.slept == [1.0, 2.0, 4.0, 8.0]


def test_a_host_that_nobody_knows_is_named() -> None:
    with FakeProvider() as provider:
        settings = {"base_url": "http://nowhere.invalid/v1"}
        model = model_at(provider, settings, first_call=FIRST_CALL)
        with pytest.raises(ModelUnavailableError) as caught:
            model.complete(ask())
    assert "nowhere.invalid (the host name cannot be resolved)" in str(caught.value)


def test_a_provider_that_was_reached_once_is_waited_for_as_usual() -> None:
    clock = FakeClock()
    with FakeProvider(["ok"]) as provider:
        model = model_at(provider, clock=clock, first_call=FIRST_CALL)
        model.complete(ask())
    with pytest.raises(ModelUnavailableError, match="gave up after 243 s"):
        model.complete(ask())


@pytest.mark.parametrize(
    ("trouble", "cause", "detail"),
    [
        (status(503), WaitCause.OVERLOADED, "503"),
        (status(529, "overloaded"), WaitCause.OVERLOADED, "529"),
        (status(500), WaitCause.NO_ANSWER, "500"),
        (drop(), WaitCause.NO_ANSWER, "the connection broke before its answer"),
    ],
)
def test_what_is_waited_for_is_told_apart(
    trouble: Turn, cause: WaitCause, detail: str
) -> None:
    watch = Waits()
    with FakeProvider([trouble, "ok"]) as provider:
        model_at(provider).complete(ask(), watch)
    [wait] = watch.seen
    assert (wait.cause, wait.detail, wait.next_try) == (cause, detail, 2)


@pytest.mark.parametrize(
    ("turn", "error"),
    [
        (status(401, "bad key"), ModelCredentialError),
        (status(403, "not yours"), ModelCredentialError),
        (status(402, "pay"), ModelCredentialError),
        (status(429, "quota", code_name="insufficient_quota"), ModelCredentialError),
        (status(400, "bad"), ModelRequestError),
        (status(404, "no model"), ModelRequestError),
        (status(400, "no", code_name="content_filter"), ModelDeclinedError),
        (status(400, "no", code_name="content_policy_violation"), ModelDeclinedError),
    ],
)
def test_what_waiting_cannot_cure_is_asked_once(
    turn: Turn, error: type[ModelError]
) -> None:
    clock = FakeClock()
    with FakeProvider([turn]) as provider:
        with pytest.raises(error) as caught:
            model_at(provider, clock=clock).complete(ask())
        assert len(provider.requests) == 1
    assert clock.slept == []
    assert caught.value.usage.cost_usd == 0.0


@pytest.mark.parametrize(
    "turn",
    [
        status(400, "prompt is too long: 210543 tokens > 200000 maximum"),
        status(400, "too much", code_name="context_length_exceeded"),
        status(413, "Request Entity Too Large"),
    ],
)
def test_s62_every_shape_of_too_long_is_one_error(turn: Turn) -> None:
    with FakeProvider([turn]) as provider, pytest.raises(ContextWindowError):
        model_at(provider).complete(ask())


def exceeded(prompt: int) -> Turn:
    message = f"input length and `max_tokens` exceed context limit: {prompt} + 8192"
    return status(400, f"{message} > 204648, decrease input length or `max_tokens`")


def test_s63_a_prompt_that_fits_without_the_whole_reserve_is_asked_again() -> None:
    clock = FakeClock()
    with FakeProvider([exceeded(196_973), "ok"]) as provider:
        model = model_at(provider, {"max_output_tokens": 8192}, clock=clock)
        assert model.complete(ask()).text == "ok"
    assert [sent["max_tokens"] for sent in provider.requests] == [8192, 7675]
    assert clock.slept == []


def test_s63_a_prompt_that_leaves_too_little_is_too_long() -> None:
    with (
        FakeProvider([exceeded(204_000)]) as provider,
        pytest.raises(ContextWindowError, match="204000"),
    ):
        model_at(provider).complete(ask())


def test_s63_the_reserve_is_lowered_before_the_edge_is_passed() -> None:
    small = {"context_window": 6000, "max_output_tokens": 4000}
    with FakeProvider(["ok"]) as provider:
        model_at(provider, small).complete(ask(UserText(text="x" * 9000)))
    assert 1024 < provider.requests[0]["max_tokens"] < 3000


def test_the_key_is_in_no_error() -> None:
    echo = status(401, "Incorrect API key provided: sk-test-0123456789")
    with FakeProvider([echo], api_key="sk-test-0123456789") as provider:
        model = model_at(provider, {"api_key": "sk-test-0123456789"})
        with pytest.raises(ModelCredentialError) as caught:
            model.complete(ask())
    assert "0123456789" not in str(caught.value)


def test_s59_no_choices_is_billed_and_asked_again() -> None:
    nothing = no_choices(prompt_tokens=4241, completion_tokens=1)
    with FakeProvider([nothing, "ok"]) as provider:
        reply = model_at(provider, PRICES).complete(ask())
    assert reply.text == "ok"
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (4341, 21)
    assert reply.usage.cost_usd == pytest.approx(4.341 + 0.21)


@pytest.mark.parametrize("nothing", [no_choices(prompt_tokens=100), say(""), Turn()])
def test_s59_nothing_three_times_is_an_error_that_carries_the_bill(
    nothing: Turn,
) -> None:
    with FakeProvider([nothing] * 4) as provider:
        with pytest.raises(EmptyReplyError, match="tries: 3") as caught:
            model_at(provider, PRICES).complete(ask())
        assert len(provider.requests) == 3
    assert caught.value.usage.tokens_in == 300
    assert (caught.value.usage.cost_usd or 0.0) >= 0.3


def test_s66_an_empty_answer_is_not_repeated_beyond_the_budget() -> None:
    with FakeProvider([no_choices(prompt_tokens=100), "ok"]) as provider:
        model = model_at(provider, PRICES)
        worst_usd = model.ceiling_usd(ask()) or 0.0
        run_budget = RunBudget(worst_usd, refuse_unknown=False)
        with pytest.raises(OverBudgetError) as caught:
            model.complete(ask(), Waits(run_budget))
        assert len(provider.requests) == 1
    assert caught.value.usage.cost_usd == pytest.approx(81.92 + 0.1, abs=0.01)


def test_a_failure_after_a_billed_try_carries_the_bill() -> None:
    with (
        FakeProvider([no_choices(**BILLED), status(401)]) as provider,
        pytest.raises(ModelCredentialError) as caught,
    ):
        model_at(provider, PRICES).complete(ask())
    assert caught.value.usage.cost_usd == pytest.approx(0.11)


@pytest.mark.parametrize(
    "turn",
    [
        say("", finish_reason="content_filter"),
        Turn(extra={"refusal": "I will not do that."}),
    ],
)
def test_a_declined_answer_is_billed_and_not_repeated(turn: Turn) -> None:
    with FakeProvider([turn]) as provider:
        with pytest.raises(ModelDeclinedError) as caught:
            model_at(provider, PRICES).complete(ask())
        assert len(provider.requests) == 1
    assert caught.value.usage.cost_usd == pytest.approx(0.3)


def test_calls_without_text_are_no_empty_reply() -> None:
    with FakeProvider([call("status")]) as provider:
        assert model_at(provider).complete(ask()).tool_calls
