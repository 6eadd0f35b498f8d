"""People's words come again at their places, and are waited for."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from patchwright.core.events.actions import ChangeState, Message
from patchwright.core.events.observations import StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event, Known
from patchwright.core.replay.recorded_inputs import (
    ScriptedUser,
    find_scripted_inputs,
    in_order_noticed,
)
from tests.unit.trajectory.recorded import asked, noted, numbered, replied, started
from tests.unit.trajectory.stage import open_log

STOP = ChangeState(state=AgentState.STOPPED, reason="alice")


def spoken(words: Known, *after: tuple[Source, Known, int | None]) -> list[Event]:
    """Return a run in which somebody speaks right after the task."""
    said = (Source.USER, words, None)
    return numbered([started(), asked(), said, *after])


def test_what_is_said_comes_after_the_same_number_of_beats(tmp_path: Path) -> None:
    recorded = spoken(Message(text="use tabs"), replied("shell", cause=3))
    assert [
        (cue.steps_before, cue.accepted) for cue in find_scripted_inputs(recorded)
    ] == [(1, None)]
    with open_log(tmp_path / "log") as log:
        scripted_user = ScriptedUser(log, recorded)
        scripted_user.append(*started())
        assert len(log.read()) == 1
        scripted_user.append(*asked())
        assert [event.source for event in scripted_user.read()][-1] is Source.USER
        assert scripted_user.was_answered


def test_an_answer_waits_until_the_words_before_it_are_heard(tmp_path: Path) -> None:
    judged = (Source.SYSTEM, Message(text="judged"), 3)
    recorded = spoken(Message(text="use tabs"), judged, replied("shell", cause=4))
    with open_log(tmp_path / "log") as log, ThreadPoolExecutor(1) as pool:
        scripted_user = ScriptedUser(log, recorded)
        scripted_user.append(*started())
        scripted_user.append(*asked())
        [said] = log.read(3)
        assert scripted_user.filter_steering(said) == judged[1]
        answer = pool.submit(scripted_user.wait_until_accepted)
        assert not answer.done()
        scripted_user.append(*judged)
        assert answer.result(timeout=5) is True


def test_nobody_wants_an_answer_after_a_stop(tmp_path: Path) -> None:
    with open_log(tmp_path / "log") as log, ThreadPoolExecutor(1) as pool:
        scripted_user = ScriptedUser(log, spoken(STOP), wait_limit_s=0.01)
        scripted_user.append(*started())
        scripted_user.append(*asked())
        assert pool.submit(scripted_user.wait_until_accepted).result() is False
        scripted_user.append(*noted(StateChanged(state=AgentState.STOPPED)))
        assert scripted_user.wait_until_accepted() is True


def test_words_that_met_an_answer_under_way_stand_after_it() -> None:
    unheard = spoken(Message(text="x"), replied("shell", cause=2))
    assert [event.id for event in in_order_noticed(unheard)] == [1, 2, 4, 3]
    seen = spoken(Message(text="x"), replied("shell", cause=3))
    assert [event.id for event in in_order_noticed(seen)] == [1, 2, 3, 4]
    judged = (Source.SYSTEM, Message(text="y"), 3)
    heard = spoken(Message(text="x"), judged, replied("shell", cause=2))
    assert [event.id for event in in_order_noticed(heard)] == [1, 2, 3, 4, 5]
