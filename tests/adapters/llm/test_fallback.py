"""Models of several providers stand in for each other, as the settings say."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from patchwright.core.llm.errors import ModelCredentialError
from patchwright.core.llm.model import Image, Model, UserText
from patchwright.core.settings.agent import LlmSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.service import DatabaseSettings
from patchwright.workers.agent_configuration import make_models
from tests.adapters.llm.asking import Waits, ask, history
from tests.fakes.clock import FakeClock
from tests.fakes.llm.anthropic import FakeAnthropic
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script, call, say, status

TEXT = {"type": "text", "text": "Done."}
PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
PICTURE = UserText(text="See.", images=(Image(media_type="image/png", data="QUJD"),))


class Providers(NamedTuple):
    model: Model
    clock: FakeClock
    first: FakeProvider
    second: FakeAnthropic


@contextmanager
def providers(
    first: Script,
    second: list[list[dict[str, Any]] | tuple[int, str]],
    **settings: object,
) -> Iterator[Providers]:
    """Configure two providers; the second is the first one's fallback."""
    clock = FakeClock()
    with FakeProvider(first) as one, FakeAnthropic(second) as two:
        llm: Mapping[str, object] = {
            "model": "openai/some-model",
            "base_url": one.base_url,
            "api_key": "sk-test",
            "max_output_tokens": 2000,
            "fallbacks": ["claude"],
            "claude": {
                "model": "anthropic/claude-sonnet-4-5",
                "base_url": two.base_url,
                "api_key": "sk-test",
                "max_output_tokens": 2000,
            },
            **PRICES,
            **settings,
        }
        made = make_models(
            Settings(
                state_dir=Path("unused"),
                database=DatabaseSettings(url=SecretStr("sqlite://")),
                llm=LlmSettings.model_validate(llm),
            ),
            clock,
        )
        yield Providers(made.main, clock, one, two)


def test_s58_a_rate_limit_that_stays_is_avoided_with_another_model() -> None:
    watch = Waits()
    with providers(lambda _request: status(429), [[TEXT], [TEXT]]) as found:
        reply = found.model.complete(ask(deadline_s=3600), watch)
        assert 60 < found.clock.monotonic() < 301
        assert watch.seen
        waits = len(watch.seen)
        assert found.model.complete(ask(), watch).text == "Done."
    assert reply.model == "anthropic/claude-sonnet-4-5"
    assert len(watch.seen) == waits


def test_s61_reasoning_and_calls_of_one_model_work_with_another() -> None:
    turn = say("", call("status"), extra={"reasoning_content": "hmm"})
    with providers([turn, status(402, "pay")], [[TEXT]]) as found:
        reply = found.model.complete(ask())
        assert found.model.complete(ask(*history(reply))).text == "Done."
    assert found.second.refused == []
    assert "hmm" not in str(found.second.requests)


def test_s66_a_declined_answer_is_billed_with_the_one_that_comes() -> None:
    with providers([say("", finish_reason="content_filter")], [[TEXT]]) as found:
        usage = found.model.complete(ask()).usage
    assert usage.tokens_in == 100 + 1000
    assert usage.cost_usd is not None
    assert usage.cost_usd > 0.3


def test_s66_the_limit_counts_the_most_expensive_model() -> None:
    with providers([], []) as found:
        ceiling = found.model.ceiling_usd(ask())
    assert ceiling is not None
    assert ceiling > 20.0


def test_images_go_to_the_fallback_that_sees_them() -> None:
    with providers(["ok"], [[TEXT]]) as found:
        assert found.model.complete(ask(PICTURE)).text == "Done."
        assert found.model.complete(ask()).text == "ok"
    assert len(found.second.requests) == 1


def test_images_go_to_the_model_that_is_named_for_them() -> None:
    with providers(["ok"], [[TEXT]], fallbacks=[], vision_model="claude") as found:
        assert found.model.complete(ask(PICTURE)).text == "Done."
        assert found.model.complete(ask()).text == "ok"


def test_s62_a_chat_too_long_for_one_model_goes_to_a_larger_window() -> None:
    too_long = status(400, "too much", code_name="context_length_exceeded")
    with providers([too_long], [[TEXT], [TEXT]], context_window=9000) as found:
        assert found.model.complete(ask()).text == "Done."
        long = ask(UserText(text="x" * 30_000))
        assert found.model.complete(long).text == "Done."
    assert len(found.first.requests) == 1


def test_when_nobody_takes_the_key_all_are_named() -> None:
    with (
        providers([status(401, "bad")], [(401, "bad too")]) as found,
        pytest.raises(ModelCredentialError, match=r"some-model.*claude-sonnet"),
    ):
        found.model.complete(ask())
