"""A run is run again from its log alone."""

from pathlib import Path

from patchwright.core.condense.condensers import AmortisedCondenser
from patchwright.core.events.actions import ChangeState, Delegate, Message, RaiseLimits
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import (
    Condensed,
    ConfirmationAsked,
    ModelReply,
    OutcomeReached,
    UserRejected,
)
from patchwright.core.events.payload import AgentState, Source, ToolCall
from patchwright.core.events.types import Event
from patchwright.core.llm.errors import ContextWindowError, ModelUnavailableError
from patchwright.core.llm.model import ModelCapabilities, Models
from patchwright.core.replay.comparison import compare
from tests.fakes.scripted_model import ScriptedModel, Step, reply
from tests.unit.trajectory.normal import normalise
from tests.unit.trajectory.stage import (
    Play,
    record,
    record_steps,
    repeat,
    while_asked,
)

ECHO = reply(calls=[("shell", {"command": "echo hello"})])
TRUE = reply(calls=[("shell", {"command": "true"})])
FINISH = reply(calls=[("finish", {"summary": "Done."})])


def assert_repeats(folder: Path, recorded: list[Event]) -> list[Event]:
    repeated = repeat(folder, recorded)
    assert normalise(repeated) == normalise(recorded)
    assert compare(recorded, repeated).differences == ()
    return repeated


def test_plain_calls_come_out_the_same(tmp_path: Path) -> None:
    write = reply(
        calls=[("write", {"path": "a", "content": "1"}), ("read", {"path": "a"})]
    )
    recorded = record_steps(tmp_path, [ECHO, write, TRUE, FINISH])
    repeated = assert_repeats(tmp_path, recorded)
    assert [e.payload for e in repeated if isinstance(e.payload, ModelReply)] == [
        e.payload for e in recorded if isinstance(e.payload, ModelReply)
    ]


def test_broken_unknown_and_wordy_replies_come_out_the_same(tmp_path: Path) -> None:
    broken = reply(calls=[("shell", {})], malformed={"call_1": "not JSON"})
    steps = [broken, reply("Well."), reply(calls=[("fly", {}), ("shell", {})]), FINISH]
    assert_repeats(tmp_path, record_steps(tmp_path, steps))


def test_a_failing_model_fails_again(tmp_path: Path) -> None:
    recorded = record_steps(tmp_path, [TRUE, ModelUnavailableError("gone")])
    repeated = assert_repeats(tmp_path, recorded)
    last = repeated[-1].payload
    assert isinstance(last, OutcomeReached)
    assert last.outcome.reason == ModelUnavailableError.reason


def test_a_run_of_text_alone_asks_again(tmp_path: Path) -> None:
    assert_repeats(tmp_path, record_steps(tmp_path, [reply("Why?")] * 3))


def test_delegates_say_their_own_words(tmp_path: Path) -> None:
    delegate = ToolCall(id="d", name="delegate", arguments='{"task": "Look."}')
    twice = ModelReply(tool_calls=(delegate, delegate.replace(id="e")))
    main, child = (
        ScriptedModel([ECHO, twice, FINISH]),
        ScriptedModel([TRUE, FINISH, ECHO, FINISH]),
    )
    models = Models(main=main, condense=main, delegate=child)
    recorded = record(tmp_path, lambda _: Play(models))
    assert sum(isinstance(one.payload, Delegate) for one in recorded) == 2
    assert_repeats(tmp_path, recorded)


def test_the_chat_is_condensed_where_it_was(tmp_path: Path) -> None:
    long = reply(calls=[("shell", {"command": f"echo {'x' * 3000}"})])
    steps: list[Step] = [
        long,
        long.replace(text="a"),
        long,
        ContextWindowError("full"),
        TRUE,
        FINISH,
    ]
    model = ScriptedModel(steps, capabilities=ModelCapabilities(context_window=5000))
    play = Play(Models.only(model), condenser=AmortisedCondenser())
    recorded = record(tmp_path, lambda _: play)
    assert sum(isinstance(one.payload, Condensed) for one in recorded) > 0
    assert_repeats(tmp_path, recorded)


def test_words_of_people_are_heard_at_the_same_place(tmp_path: Path) -> None:
    def hear(event: Event) -> Message | None:
        assert isinstance(event.payload, Message)
        return None if "not" in event.payload.text else Message(text="judged")

    def play(log: EventLog) -> Play:
        steps = [
            while_asked(log, Message(text="use tabs"), reply("Hm.")),
            while_asked(log, Message(text="not you"), ECHO),
            while_asked(log, RaiseLimits(iterations=3), TRUE),
            FINISH,
        ]
        return Play(Models.only(ScriptedModel(steps)), hear=hear)

    assert_repeats(tmp_path, record(tmp_path, play))


def test_a_stop_stops_again(tmp_path: Path) -> None:
    stop = ChangeState(state=AgentState.STOPPED, reason="alice")

    def play(log: EventLog) -> Play:
        return Play(
            Models.only(ScriptedModel([ECHO, while_asked(log, stop, TRUE), FINISH]))
        )

    assert_repeats(tmp_path, record(tmp_path, play))


def test_a_pause_ends_where_it_ended(tmp_path: Path) -> None:
    pause = ChangeState(state=AgentState.PAUSED, reason="alice")

    def go_on(log: EventLog) -> bool:
        log.append(Source.USER, ChangeState(state=AgentState.RUNNING, reason="bob"))
        return True

    def play(log: EventLog) -> Play:
        steps = [ECHO, while_asked(log, pause, TRUE), TRUE, FINISH]
        return Play(Models.only(ScriptedModel(steps)), answer=go_on)

    recorded = record(tmp_path, play)
    assert_repeats(tmp_path, recorded)


def test_a_confirmation_is_given_and_refused_as_it_was(tmp_path: Path) -> None:
    said = iter([AgentState.USER_REJECTED, AgentState.USER_CONFIRMED])

    def answer(log: EventLog) -> bool:
        asked = [
            e.payload for e in log.read() if isinstance(e.payload, ConfirmationAsked)
        ]
        log.append(Source.USER, ChangeState(state=next(said), digest=asked[-1].digest))
        return True

    other = reply(calls=[("shell", {"command": "echo other"})])
    model = ScriptedModel([ECHO, other, TRUE, FINISH])
    play = Play(Models.only(model), answer=answer, confirm="risky")
    recorded = record(tmp_path, lambda _: play)
    assert sum(isinstance(one.payload, UserRejected) for one in recorded) == 1
    assert_repeats(tmp_path, recorded)
