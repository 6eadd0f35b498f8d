"""The parts of a final comment: how big, how sure, where it stopped, how to answer."""

import pytest

from patchwright.core.events.payload import Todo
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import DiffStat, ReviewAnswer, ReviewVerdict
from patchwright.resolver.messages.advice import choices
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.resolver.messages.result import final_comment
from patchwright.resolver.messages.status import DeliveryResult, Progress, mark
from patchwright.resolver.publish.publisher import as_delivered
from tests.unit.resolver.endings import FRAME, GREEN, HANDLE, RED, ended, proven

PULL = DeliveryResult(branch="patchwright/7-sum", pull_request=12)
FAR = Progress(
    state="running",
    done=("Repository checked out in a docker sandbox",),
    todos=(Todo(text="Write a test", state="done"), Todo(text="Fix it", state="doing")),
    doing="Step 7: `shell pytest`",
)


@pytest.mark.parametrize(
    "kind", [kind for kind in OutcomeKind if display_of(kind).was_cut_short]
)
def test_s42_a_run_that_was_cut_short_says_where_it_stopped(kind: OutcomeKind) -> None:
    text = final_comment(ended(kind, "Why."), DeliveryResult(), FRAME, FAR)
    assert (
        """\
It stopped at: Step 7: `shell pytest`.

<details><summary>What it had done</summary>

- [x] Repository checked out in a docker sandbox
- The agent's plan:
  - [x] Write a test
  - [ ] **→** Fix it

</details>"""
        in text
    )


def test_a_run_that_came_to_its_end_does_not_say_where_it_stopped() -> None:
    text = final_comment(proven(), PULL, FRAME, FAR)
    assert "It stopped at" not in text


def test_the_head_has_the_size_of_the_change_and_the_way_to_the_run() -> None:
    changed = DiffStat(files=3, insertions=24, deletions=7)
    outcome = proven().replace(changed=changed)
    frame = FRAME.replace(run_url="https://bot.test/runs/7?key=k")
    head, _, _ = final_comment(outcome, PULL, frame).partition("\n")
    assert head == (
        "**Done, proven** · #12 · 7 steps · 2m 10s · $0.41 of $3.00 · 3 files, "
        "+24 -7 · [run](https://bot.test/runs/7?key=k)"
    )


def test_a_raised_budget_is_what_the_cost_is_compared_with() -> None:
    far = FAR.replace(more_cost_usd=2.0)
    text = final_comment(ended(OutcomeKind.STUCK, "x"), DeliveryResult(), FRAME, far)
    assert "· $0.41 of $5.00" in text


def test_warnings_stand_where_a_reviewer_cannot_overlook_them() -> None:
    outcome = proven().replace(
        warnings=("`test_a.py` was deleted.", "`ci.yml` was\nchanged.")
    )
    assert """\
> [!WARNING]
> **Check this before you merge:**
> - `test_a.py` was deleted.
> - `ci.yml` was changed.""" in final_comment(outcome, PULL, FRAME)


def test_answers_to_reviewers_are_counted() -> None:
    verdicts = (
        ReviewVerdict.ADDRESSED,
        ReviewVerdict.NEEDS_INPUT,
        ReviewVerdict.ADDRESSED,
    )
    answers = tuple(
        ReviewAnswer(thread=number, verdict=verdict)
        for number, verdict in enumerate(verdicts, start=1)
    )
    text = final_comment(proven().replace(reviews=answers), PULL, FRAME)
    assert "\n\nReview threads: 2 addressed, 1 waiting for an answer." in text


def test_a_question_with_choices_says_how_to_choose() -> None:
    question = "Which one?\n\n1. Round up.\n2. Round down.\n3. Neither."
    outcome = ended(OutcomeKind.NEEDS_INPUT, question, reason="question", waits=True)
    text = final_comment(outcome, DeliveryResult(), FRAME)
    assert text.startswith("**Needs you** · ")
    assert "Reply `1`, `2` or `3`, or write your own answer." in text
    assert text.endswith(f"<!-- patchwright:state=waiting {mark(FRAME.run_id)}")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1. a\n2. b", (1, 2)),
        ("Well:\n\n 1) a\n 2) b\n 3) c", (1, 2, 3)),
        ("1. only one", ()),
        ("2. b\n3. c", ()),
        ("In 1.5 seconds", ()),
        ("", ()),
    ],
)
def test_choices_are_a_numbered_list(text: str, numbers: tuple[int, ...]) -> None:
    assert choices(text) == numbers


def test_what_was_refused_to_adorn_is_told_among_the_notes() -> None:
    remark = "GitHub knows no reviewer `bob`."
    delivered = PULL.replace(remarks=(remark,))
    assert f"\n\n- {remark}" in final_comment(proven(), delivered, FRAME)


def test_many_notes_are_folded_and_counted() -> None:
    notes = tuple(f"Note {number}." for number in range(30))
    text = final_comment(
        ended(OutcomeKind.NO_CHANGE, "x", notes=notes), DeliveryResult(), FRAME
    )
    assert (
        "<summary>30 notes about removed, skipped or doubtful parts</summary>"
    ) in text
    assert "- Note 19.\n- … and 10 more\n" in text


@pytest.mark.parametrize(
    "summary",
    ["word " * 40_000, "`" * 9_000 + f" {HANDLE} " * 2_000, "<b>" * 30_000],
)
def test_s44_with_any_text_of_the_agent_the_comment_fits_and_is_complete(
    summary: str,
) -> None:
    long = tuple(f"{number} {'n' * 900}" for number in range(60))
    outcome = proven(summary).replace(
        notes=long, warnings=long, evidence=(RED, GREEN) * 40
    )
    refused = DeliveryResult(refusal="r" * 20_000, remarks=long)
    text = final_comment(as_delivered(outcome, refused), refused, FRAME)
    assert len(text) <= 65_536
    assert text.startswith("**Not delivered** · ")
    assert text.count("<details>") == text.count("</details>")
    assert text.endswith(mark(FRAME.run_id))
