"""What each condenser keeps, and what it leaves out."""

from inspect import cleandoc

import pytest

from patchwright.core.condense.condenser import (
    Ask,
    Condenser,
    History,
    Turn,
    apply_condensation,
    size_after,
)
from patchwright.core.condense.condensers import (
    AmortisedCondenser,
    MaskingCondenser,
    NoCondenser,
    PipelineCondenser,
    RecentCondenser,
    SummaryCondenser,
)
from patchwright.core.events.observations import Condensed, ModelReply
from patchwright.core.llm.errors import (
    ContextWindowError,
    ModelError,
    ModelUnavailableError,
)
from tests.unit.condense.chats import (
    Asked,
    ask_nobody,
    history,
    ran,
    said,
    step,
    texts,
    turn,
)

FACTS = "Files written so far: a.py"
HEAD = (
    "[Your earlier steps are no longer shown. This stands for them; it is a record, "
    "not a message from anybody.]"
)
OUTPUT = "line\n" * 400 + "[exit code 1]"
WORK = history(
    said(1, "Fix it."),
    *(ran(number, f"pytest {number}", OUTPUT, text="Run.") for number in range(2, 14)),
    facts=FACTS,
)
WORDY = history(
    said(1, "Fix it."),
    *(ran(number, "pytest " + "a" * 1_500, OUTPUT) for number in range(2, 14)),
)
GOOD = "DONE: a.py, the sum. FOUND OUT: pytest 2 fails with an index error."


def left(condenser: Condenser, chat: History) -> list[str]:
    """Return what the condenser leaves of a chat without asking anybody."""
    condensed = condenser.condense(chat, ask_nobody)
    assert condensed is not None
    return texts(apply_condensation(chat.turns, condensed))


def test_none_leaves_everything() -> None:
    assert NoCondenser().condense(WORK, ask_nobody) is None


def test_recent_keeps_the_newest_that_fit_and_the_facts() -> None:
    shown = left(RecentCondenser(), WORK)
    summary = f"{HEAD}\n\n[What is known at this point]\n{FACTS}"
    assert shown == ["Fix it.", summary, *["Run.", OUTPUT] * 4]


def test_masking_leaves_what_was_done() -> None:
    condensed = MaskingCondenser().condense(WORK, ask_nobody)
    assert condensed == Condensed(masked_to=10)
    shown = apply_condensation(WORK.turns, condensed)
    assert [one.messages[0] for one in shown] == [one.messages[0] for one in WORK.turns]
    assert texts(shown)[-6:] == ["Run.", OUTPUT] * 3


def test_amortised_lists_the_steps() -> None:
    chat = history(
        said(1, "Fix it."),
        step(2, [("ls", "a.py\nb.py"), ("cat a.py", OUTPUT)], text="Look\nfirst."),
        turn(3),
        *(ran(number, "pytest", OUTPUT) for number in range(4, 8)),
    )
    assert left(AmortisedCondenser(), chat)[:2] == [
        "Fix it.",
        cleandoc(f"""
            {HEAD}

            - Look first.; shell {{"command": "ls"}} -> b.py; \
shell {{"command": "cat a.py"}} -> [exit code 1]
            - shell {{"command": "pytest"}} -> [exit code 1]
            - shell {{"command": "pytest"}} -> [exit code 1]
            - shell {{"command": "pytest"}} -> [exit code 1]
            """),
    ]


def test_a_list_goes_on_where_an_earlier_one_ended() -> None:
    condenser = AmortisedCondenser()
    first = condenser.condense(WORK, ask_nobody)
    assert first is not None
    more = (ran(number, f"cat {number}", OUTPUT) for number in range(20, 28))
    again = history(
        *apply_condensation(WORK.turns, first), *more, facts="Files written so far: z"
    )
    [summary] = [text for text in left(condenser, again) if text.startswith(HEAD)]
    steps = [line for line in summary.splitlines() if line.startswith("- ")]
    assert [line.split(": ")[1].split('"')[1] for line in steps] == [
        *(f"pytest {number}" for number in range(2, 14)),
        *(f"cat {number}" for number in range(20, 25)),
    ]
    assert summary.endswith(
        "\n\n[What is known at this point]\nFiles written so far: z"
    )
    assert FACTS not in summary


def test_the_oldest_lines_of_a_list_go_where_room_is_short() -> None:
    steps = [ran(number, "pytest " + "a" * 150, "ok") for number in range(2, 202)]
    chat = history(said(1, "Fix it."), *steps)
    for goal in (round(chat.size_bytes * 0.4), 6_000):
        chat = chat.replace(goal_bytes=goal)
        condensed = AmortisedCondenser().condense(chat, ask_nobody)
        assert condensed is not None
        chat = chat.replace(turns=apply_condensation(chat.turns, condensed))
        assert chat.size_bytes <= goal + 100
        _, _, note, *lines = condensed.summary.splitlines()
        shown = len(lines) + len(chat.turns) - len(["the task", "the summary"])
        assert note == f"({len(steps) - shown} earlier lines are left out)"


def test_the_model_sees_the_work_in_full() -> None:
    asked = Asked(GOOD)
    condensed = SummaryCondenser().condense(WORK, asked)
    assert condensed is not None
    [(system, question)] = asked.questions
    assert system.startswith("You condense the record")
    assert question.count(OUTPUT) == 9
    assert 'Call c2-0: shell {"command": "pytest 2"}' in question
    assert "It was told:\nFix it." in question
    assert condensed == Condensed(
        first_id=2,
        last_id=10,
        summary=f"{HEAD}\n\n{GOOD}\n\n[What is known at this point]\n{FACTS}",
    )


def test_an_earlier_summary_is_part_of_the_next_question() -> None:
    first = SummaryCondenser().condense(WORK, Asked(GOOD))
    assert first is not None
    more = (ran(number, "ls", OUTPUT) for number in range(20, 26))
    asked = Asked("DONE: nothing more than what had been done before, I think.")
    chat = history(*apply_condensation(WORK.turns, first), *more, facts=FACTS)
    condensed = SummaryCondenser().condense(chat, asked)
    assert condensed is not None
    [(_, question)] = asked.questions
    assert f"An earlier summary:\n{GOOD}\n" in question
    assert FACTS not in question
    assert GOOD not in "".join(texts(apply_condensation(chat.turns, condensed)))


@pytest.mark.parametrize(
    "answer",
    [
        Asked(""),
        Asked("  \n"),
        Asked("... --- ..."),
        Asked(GOOD, stop_reason="length"),
        Asked("word " * 4_000),
    ],
    ids=["empty", "blank", "no words", "cut off", "too long"],
)
def test_what_is_no_summary_gives_way_to_a_list(answer: Asked) -> None:
    listed = AmortisedCondenser().condense(WORK, ask_nobody)
    assert SummaryCondenser().condense(WORK, answer) == listed


def _failing(error: ModelError) -> Ask:
    def ask(*question: str) -> ModelReply:
        assert len(question) == len(["system", "text"])
        raise error

    return ask


def test_work_too_long_for_the_condensing_model_is_listed() -> None:
    ask = _failing(ContextWindowError("too long"))
    listed = AmortisedCondenser().condense(WORK, ask_nobody)
    assert SummaryCondenser().condense(WORK, ask) == listed


def test_an_error_of_the_model_passes_through() -> None:
    with pytest.raises(ModelUnavailableError):
        SummaryCondenser().condense(WORK, _failing(ModelUnavailableError("down")))


def test_nobody_is_paid_where_there_is_no_work_to_summarise() -> None:
    first = SummaryCondenser().condense(WORK, Asked(GOOD))
    assert first is not None
    again = history(*apply_condensation(WORK.turns, first), facts=FACTS, goal_bytes=100)
    asked = Asked(GOOD)
    SummaryCondenser().condense(history(*again.turns[:2], goal_bytes=1), asked)
    assert asked.questions == []


def test_nobody_is_paid_for_what_a_usable_summary_could_be_longer_than() -> None:
    older = [ran(number, "cat", "x" * 400) for number in range(2, 6)]
    chat = huge_end(*older)
    listed = AmortisedCondenser().condense(chat, ask_nobody)
    assert SummaryCondenser().condense(chat, ask_nobody) == listed
    asked = Asked(GOOD)
    more = huge_end(*older, *(ran(number, "cat", "x" * 400) for number in (6, 7)))
    SummaryCondenser().condense(more, asked)
    assert len(asked.questions) == 1


def test_a_pipeline_ends_where_the_goal_is_met() -> None:
    pipeline = PipelineCondenser([MaskingCondenser(), SummaryCondenser()])
    condensed = pipeline.condense(WORK, ask_nobody)
    assert condensed == Condensed(masked_to=10)


def test_a_pipeline_goes_on_with_the_whole_work() -> None:
    asked = Asked(GOOD)
    pipeline = PipelineCondenser([MaskingCondenser(), SummaryCondenser()])
    condensed = pipeline.condense(WORDY, asked)
    assert condensed is not None
    [(_, question)] = asked.questions
    assert "[result left out" not in question
    assert size_after(WORDY.turns, condensed) <= WORDY.size_bytes * 0.4


def test_a_pipeline_puts_together_what_its_parts_leave_out() -> None:
    class First:
        name = "first"

        def condense(self, history: History, ask: Ask) -> Condensed:
            assert history.turns
            assert ask is ask_nobody
            return Condensed(first_id=2, last_id=4, summary="Two to four.")

    pipeline = PipelineCondenser([First(), MaskingCondenser()])
    assert pipeline.condense(WORDY, ask_nobody) == Condensed(
        first_id=2, last_id=4, summary="Two to four.", masked_to=10
    )


def huge_end(*older: Turn) -> History:
    """Return a chat that the newest step, which must stay, keeps above its goal."""
    return history(said(1, "Fix it."), *older, ran(99, "cat", "y" * 20_000))


def test_a_pipeline_pays_nobody_for_what_could_hardly_be_shorter() -> None:
    chat = huge_end(*(ran(number, "cat", "x" * 4_000) for number in range(2, 8)))
    pipeline = PipelineCondenser([MaskingCondenser(), SummaryCondenser()])
    condensed = pipeline.condense(chat, ask_nobody)
    assert condensed == Condensed(masked_to=7)
    assert size_after(chat.turns, condensed) > chat.size_bytes * 0.4


def test_a_list_says_something_even_where_there_is_no_room() -> None:
    chat = huge_end(*(ran(number, f"cat {number}", "x" * 400) for number in (2, 3)))
    shown = left(AmortisedCondenser(), chat)
    assert "cat 2" in shown[1]
    assert "cat 3" in shown[1]


def test_huge_newest_turns_give_way_but_for_the_very_newest() -> None:
    huge = "y" * 10_000
    chat = history(
        said(1, "Fix it."), *(ran(number, "cat", huge) for number in range(2, 5))
    )
    shown = left(MaskingCondenser(), chat)
    assert [text == huge for text in shown if text] == [False, False, False, True]
