"""People's words come again at their places, and are waited for."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    Event,
    Known,
    Message,
    Source,
    StateChanged,
)
from patchwright.core.trajectory.noticed import as_noticed
from patchwright.core.trajectory.prompter import Prompter, find_cues
from tests.unit.trajectory.recorded import asked, noted, numbered, replied, started
from tests.unit.trajectory.stage import open_log

STOP = ChangeState(state=AgentState.STOPPED, reason="alice")


def spoken(words: Known, *after: tuple[Source, Known, int | None]) -> list[Event]:
    """Return a run in which somebody speaks right after the task."""
    said = (Source.USER, words, None)
    return numbered([started(), asked(), said, *after])


def test_what_is_said_comes_after_the_same_number_of_beats(tmp_path: Path) -> None:
    recorded = spoken(Message(text="use tabs"), replied("shell", cause=3))
    assert [(cue.beats, cue.accepted) for cue in find_cues(recorded)] == [(1, None)]
    with open_log(tmp_path / "log") as log:
        prompter = Prompter(log, recorded)
        prompter.append(*started())
        assert len(log.read()) == 1
        prompter.append(*asked())
        assert [event.source for event in prompter.read()][-1] is Source.USER
        assert prompter.was_answered


def test_an_answer_waits_until_the_words_before_it_are_heard(tmp_path: Path) -> None:
    judged = (Source.SYSTEM, Message(text="judged"), 3)
    recorded = spoken(Message(text="use tabs"), judged, replied("shell", cause=4))
    with open_log(tmp_path / "log") as log, ThreadPoolExecutor(1) as pool:
        prompter = Prompter(log, recorded)
        prompter.append(*started())
        prompter.append(*asked())
        [said] = log.read(3)
        assert prompter.filter_steering(said) == judged[1]
        answer = pool.submit(prompter.wait_until_heard)
        assert not answer.done()
        prompter.append(*judged)
        assert answer.result(timeout=5) is True


def test_nobody_wants_an_answer_after_a_stop(tmp_path: Path) -> None:
    with open_log(tmp_path / "log") as log, ThreadPoolExecutor(1) as pool:
        prompter = Prompter(log, spoken(STOP), patience_s=0.01)
        prompter.append(*started())
        prompter.append(*asked())
        assert pool.submit(prompter.wait_until_heard).result() is False
        prompter.append(*noted(StateChanged(state=AgentState.STOPPED)))
        assert prompter.wait_until_heard() is True


def test_words_that_met_an_answer_under_way_stand_after_it() -> None:
    unheard = spoken(Message(text="x"), replied("shell", cause=2))
    assert [event.id for event in as_noticed(unheard)] == [1, 2, 4, 3]
    seen = spoken(Message(text="x"), replied("shell", cause=3))
    assert [event.id for event in as_noticed(seen)] == [1, 2, 3, 4]
    judged = (Source.SYSTEM, Message(text="y"), 3)
    heard = spoken(Message(text="x"), judged, replied("shell", cause=2))
    assert [event.id for event in as_noticed(heard)] == [1, 2, 3, 4, 5]
