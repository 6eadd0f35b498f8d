"""What a pull request says."""

import pytest

from patchwright.core.text.mentions import find_request
from patchwright.core.types.work import Evidence, Outcome, Proof
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    pull_request_text,
)
from tests.unit.resolver.endings import HANDLE, ORIGIN, RED, proven


def test_a_proven_change_reads_so() -> None:
    text = pull_request_text(proven(), ORIGIN, draft=False)
    assert text.title == "Count every piece"
    assert not text.draft
    assert (
        text.body
        == """\
**Proven**: in fresh sandboxes, the test fails without the change and passes with it.

The total ignored the pieces.

Closes #7

### Evidence

| | command | commit | exit code | time | output SHA-256 |
|---|---|---|---|---|---|
| before (base + new tests) | `pytest -k sum` | `aaaaaaaaaa` | 🔴 1 | 1.2 s | \
`dddddddddddd` |
| after | `pytest -k sum` | `bbbbbbbbbb` | 🟢 0 | 1.2 s | `dddddddddddd` |

<sub>Run by the controller in fresh sandboxes, not by the agent. “Before” is the base \
commit with only the test files of this change.</sub>

<sub>run 7f3a9c1e · asked for by @alice · model openai/x · 7 steps · 2m 10s · \
$0.41</sub>"""
    )


def test_a_change_without_proof_says_so_first_and_last() -> None:
    unproven = proven().model_copy(
        update={
            "proof": Proof.NOT_PROVEN,
            "evidence": (),
            "notes": ("Hidden text was removed: 1 HTML comment.", "A fork."),
        }
    )
    text = pull_request_text(
        unproven, ORIGIN.model_copy(update={"issue": None}), draft=True
    )
    assert text.draft
    assert (
        text.body
        == """\
**Not proven**: no test command was named, so nothing was run.

The total ignored the pieces.

### Remarks

- Hidden text was removed: 1 HTML comment.
- A fork.

<sub>run 7f3a9c1e · asked for by @alice · model openai/x · 7 steps · 2m 10s · $0.41 · \
draft until it is proven</sub>"""
    )


@pytest.mark.parametrize(
    ("command", "cell"),
    [
        ("a | b", r"`a \| b`"),
        ("echo `date`", "`` echo `date` ``"),
        ("one\n  two", "`one two`"),
        ("x" * 200, f"`{'x' * 119}…`"),
    ],
)
def test_a_command_fits_into_its_cell(command: str, cell: str) -> None:
    ran = RED.model_copy(update={"command": command})
    rows = _body(proven().model_copy(update={"evidence": (ran,)})).splitlines()
    [row] = [line for line in rows if line.startswith("| before")]
    assert f"| {cell} |" in row


@pytest.mark.parametrize(
    ("code", "cell"), [(None, "⏱ did not end"), (0, "🟢 0"), (127, "🔴 127")]
)
def test_an_exit_code_reads_so(code: int | None, cell: str) -> None:
    ran: Evidence = RED.model_copy(update={"exit_code": code})
    assert f"| {cell} |" in _body(proven().model_copy(update={"evidence": (ran,)}))


def test_a_long_summary_leaves_room_for_the_evidence() -> None:
    body = _body(proven("word " * 40_000))
    assert len(body) < MAX_BODY_CHARS
    assert "### Evidence" in body
    assert "Closes #7" in body
    assert body.endswith("</sub>")


def test_s08_a_pull_request_asks_us_for_nothing() -> None:
    outcome = proven(f"{HANDLE} go on").model_copy(update={"title": f"{HANDLE} do it"})
    text = pull_request_text(outcome, ORIGIN, draft=False)
    assert find_request(text.body, HANDLE) is None
    assert find_request(text.title, HANDLE) is None


def _body(outcome: Outcome) -> str:
    return pull_request_text(outcome, ORIGIN, draft=False).body
