"""What the agent made arrives, whatever it did to its files, its git and its words."""

from pathlib import Path

import pytest

from patchwright.core.llm.scripted import Step, reply
from patchwright.core.types.work import OutcomeKind
from tests.adapters.resolve.workbench import FIX, finish, run


def shell(command: str) -> Step:
    return reply(calls=[("shell", {"command": command})])


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Count\0 every piece", "Count every piece"),
        ("\x1b[31mCount\x07\x85", "[31mCount"),
        ("Count\u2028every\rpiece", "Count every piece"),
        ("\0\x01\n", "Proposed change"),
        ("x" * 100_000, "x" * 71 + "…"),
    ],
)
def test_l3_no_character_of_a_title_or_summary_loses_the_work(
    tmp_path: Path, title: str, subject: str
) -> None:
    summary = "All\0 of\x1b it\x00.\r\nDone."
    done = run(tmp_path, [FIX, finish(title=title, summary=summary)], proves=False)
    outcome = done.outcome
    assert (outcome.kind, outcome.title) == (OutcomeKind.RESOLVED, subject)
    assert outcome.summary == "All of it.\nDone."
    said = done.repository.git("show", "-s", "--format=%B", outcome.head_sha)
    assert said.startswith(f"{subject}\n\nAll of it.\nDone.")
    assert done.changed() == ["cart.py"]


@pytest.mark.parametrize("field", ["answer", "summary"])
def test_l3_an_answer_keeps_its_words(tmp_path: Path, field: str) -> None:
    done = run(tmp_path, [finish(**{field: "It\0 sums\x1b."})], proves=False)
    assert done.outcome.summary == "It sums."
