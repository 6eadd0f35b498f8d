"""What holds for every condenser and any chat."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.condense.condenser import (
    Condenser,
    History,
    Turn,
    apply_condensation,
)
from patchwright.core.condense.condensers import (
    BUILT_IN,
    AmortisedCondenser,
    MaskingCondenser,
    PipelineCondenser,
    RecentCondenser,
    SummaryCondenser,
)
from patchwright.core.llm.model import AssistantTurn, ToolResult
from tests.unit.condense.chats import Asked, chats, size_of

CONDENSERS = st.sampled_from(
    [
        *(make() for make in BUILT_IN.values()),
        PipelineCondenser([MaskingCondenser(), SummaryCondenser()]),
        PipelineCondenser([RecentCondenser(), AmortisedCondenser()]),
    ]
)
ANSWERS = st.sampled_from(["", "word " * 30, "word " * 9_000]).map(Asked)


def _after(condenser: Condenser, chat: History, ask: Asked) -> History | None:
    condensed = condenser.condense(chat, ask)
    if condensed is None:
        return None
    return chat.replace(turns=apply_condensation(chat.turns, condensed))


def _pairs(turn: Turn) -> tuple[list[str], list[str]]:
    """Return the ids of a turn's calls and those of its results."""
    calls = chain.from_iterable(
        message.tool_calls
        for message in turn.messages
        if isinstance(message, AssistantTurn)
    )
    results = (one.call_id for one in turn.messages if isinstance(one, ToolResult))
    return [call.id for call in calls], list(results)


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS)
def test_it_gets_shorter_or_stays_as_it_is(
    chat: History, condenser: Condenser, ask: Asked
) -> None:
    after = _after(condenser, chat, ask)
    assert after is None or after.size_bytes < chat.size_bytes
    if after is not None:
        assert all(turn.size_bytes == size_of(turn.messages) for turn in after.turns)


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS)
def test_calls_keep_their_results_and_the_ids_grow(
    chat: History, condenser: Condenser, ask: Asked
) -> None:
    after = _after(condenser, chat, ask) or chat
    for turn in after.turns:
        calls, results = _pairs(turn)
        assert calls == results
    ids = [turn.id for turn in after.turns]
    assert ids == sorted(set(ids))


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS)
def test_pinned_turns_and_the_newest_one_stay_word_for_word(
    chat: History, condenser: Condenser, ask: Asked
) -> None:
    after = _after(condenser, chat, ask) or chat
    assert [t for t in after.turns if t.is_pinned] == [
        t for t in chat.turns if t.is_pinned
    ]
    free = [turn for turn in chat.turns if not turn.is_pinned]
    assert not free or free[-1] in after.turns


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS)
def test_the_facts_survive_where_turns_go(
    chat: History, condenser: Condenser, ask: Asked
) -> None:
    after = _after(condenser, chat, ask)
    if after is not None and len(after.turns) < len(chat.turns):
        said = [message.text for turn in after.turns for message in turn.messages]
        assert any(text.endswith(chat.facts) for text in said)


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS)
def test_condensing_again_comes_to_an_end(
    chat: History, condenser: Condenser, ask: Asked
) -> None:
    left: History | None = chat
    for _ in range(len(chat.turns) + 3):
        if left is None:
            return
        left = _after(condenser, left, ask)
    assert left is None


@given(chat=chats(), condenser=CONDENSERS, ask=ANSWERS, split=st.integers(0, 14))
def test_folding_the_log_gives_what_was_seen_live(
    chat: History, condenser: Condenser, ask: Asked, split: int
) -> None:
    """Turns that come later neither change nor are changed by a condensation."""
    early = chat.replace(turns=chat.turns[: split + 1])
    condensed = condenser.condense(early, ask)
    if condensed is None:
        return
    later = chat.turns[split + 1 :]
    live = (*apply_condensation(early.turns, condensed), *later)
    assert apply_condensation(chat.turns, condensed) == live
