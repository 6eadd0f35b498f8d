"""A chat that nears the model's window is condensed, or ends the run by name."""

from pathlib import Path

from patchwright.core.condense.condenser import Ask, History
from patchwright.core.condense.condensers import RecentCondenser
from patchwright.core.events.observations import Condensed, ModelCalled, ModelReply
from patchwright.core.llm.errors import ContextWindowError, ModelUnavailableError
from patchwright.core.llm.model import ChatMessage, ModelCapabilities, ToolResult
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Usage
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Scene, playing

SMALL = ModelCapabilities(context_window=1_000)
TOO_LONG = ContextWindowError("It is too long.", Usage(cost_usd=0.0))


class Asks:
    """Replaces all but the newest turn by what a model says of it."""

    name = "asks"

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        free = [turn for turn in history.turns if not turn.is_pinned]
        if len(free) < 2:
            return None
        summary = ask("Summarise.", "the record").text
        return Condensed(first_id=free[0].id, last_id=free[-2].id, summary=summary)


def is_long(message: ChatMessage) -> bool:
    return isinstance(message, ToolResult) and len(message.text) > 500


class InRounds:
    """Masks one more turn in each round, so that several rounds are needed."""

    name = "in-rounds"

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        del ask
        long = [turn for turn in history.turns if any(map(is_long, turn.messages))]
        return Condensed(masked_to=long[0].id) if long else None


def looks(times: int, *, tokens_in: int = 10, chars: int = 400) -> list[ModelReply]:
    usage = Usage(cost_usd=0.0, tokens_in=tokens_in)
    return [
        reply(calls=[("shell", {"command": f"echo {n}{'x' * chars}"})]).replace(
            usage=usage
        )
        for n in range(times)
    ]


def condensed(scene: Scene) -> list[Condensed]:
    payloads = [event.payload for event in scene.payloads("condensed")]
    return [one for one in payloads if isinstance(one, Condensed)]


def test_s63_it_condenses_before_the_window_less_the_reply_is_full(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [*looks(5, tokens_in=50), *looks(1, tokens_in=600), FINISH]
    with playing(
        tmp_path, steps, condenser=RecentCondenser(), capabilities=SMALL
    ) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        [once] = condensed(scene)
        assert once.bytes_after <= 0.4 * once.bytes_before
    assert len(scene.asked()[-1]) < len(scene.asked()[-2])


def test_s62_a_chat_the_provider_finds_too_long_is_condensed_and_asked_again(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [*looks(5), TOO_LONG, FINISH]
    with playing(tmp_path, steps, condenser=RecentCondenser()) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        assert len(condensed(scene)) == 1
    refused, shorter = scene.asked()[-2:]
    assert len(shorter) < len(refused)
    assert shorter[:2] == refused[:2]


def test_s62_a_chat_that_cannot_be_shortened_ends_the_run_with_that_reason(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, [*looks(2), TOO_LONG]) as scene:
        ending = scene.run()
    assert (ending.kind, ending.reason) == (OutcomeKind.FAILED, "context-window")
    assert ending.text == (
        "The conversation cannot be shortened any further. It is too long."
    )


def test_condensing_that_does_not_help_ends_by_name_and_not_never(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [*looks(9), *[TOO_LONG] * 9]
    with playing(tmp_path, steps, condenser=RecentCondenser()) as scene:
        assert scene.run().kind is OutcomeKind.FAILED
    assert scene.model.unplayed > 0


def test_a_model_that_condenses_is_paid_and_written_down(tmp_path: Path) -> None:
    summary = reply("We looked.", cost_usd=0.25)
    steps: list[Step] = [*looks(4), TOO_LONG, summary, FINISH]
    with playing(tmp_path, steps, condenser=Asks()) as scene:
        scene.run()
        called = scene.last("model_called")
        assert isinstance(called, ModelCalled)
        assert (called.role, called.text) == ("condense", "We looked.")
        assert scene.run_log.state.usage.cost_usd == 0.25
    assert "We looked." in [message.text for message in scene.asked()[-1]]


def test_a_model_that_cannot_condense_ends_the_run_by_name(tmp_path: Path) -> None:
    failed = ModelUnavailableError("No answer.", Usage(cost_usd=0.5))
    steps: list[Step] = [*looks(4), TOO_LONG, failed]
    with playing(tmp_path, steps, condenser=Asks()) as scene:
        ending = scene.run()
        called = scene.last("model_called")
        assert isinstance(called, ModelCalled)
        assert called.failure == ending.reason == "model-unavailable"
        assert scene.run_log.state.usage.cost_usd == 0.5


def test_the_rounds_of_one_condensation_are_no_loop(tmp_path: Path) -> None:
    steps: list[Step] = [*looks(4, chars=900), TOO_LONG, FINISH]
    with playing(tmp_path, steps, condenser=InRounds()) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        assert len(condensed(scene)) >= 3
        assert scene.payloads("loop_detected") == []


def test_what_one_worker_has_condensed_the_next_one_sees_so(tmp_path: Path) -> None:
    steps: list[Step] = [*looks(5), TOO_LONG, *looks(1), FINISH]
    with playing(tmp_path, steps, condenser=RecentCondenser()) as scene:
        assert scene.run().kind is OutcomeKind.RESOLVED
        again = scene.next_worker()
        again.run()
    last = scene.asked()[-1]
    assert [message.text for message in last[:2]] == [
        message.text for message in scene.asked()[0]
    ]
    assert len(last) < 8
