"""The event log alone says how a run went and how it ended."""

from functools import reduce
from pathlib import Path

from patchwright.core.events.observations import OutcomeReached
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event
from tests.fakes.llm.turns import call
from tests.flow.story import fix_turns, telling

WISH = "@patchwright please fix the sum"


def test_the_log_folds_to_the_state_and_the_outcome_of_the_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        events, outcome = story.events(), story.outcome()

    state = reduce(fold, events, RunState())
    assert (state.usage, state.iterations) == (outcome.usage, outcome.iterations)
    last = events[-1].payload
    assert isinstance(last, OutcomeReached)
    assert last.outcome == outcome
    assert [event.id for event in events] == list(range(1, len(events) + 1))


def test_every_event_of_a_log_survives_its_json(tmp_path: Path) -> None:
    odd = call("shell", command=r"printf '\303\251 \377 \033[31mred\033[0m \360\237'")
    broken = call("shell")
    with telling(tmp_path, [odd, broken, *fix_turns()]) as story:
        issue = story.ask("@patchwright läuft nicht 🚀\x00")
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        events = story.events()

    assert [Event.model_validate_json(one.model_dump_json()) for one in events] == (
        events
    )
