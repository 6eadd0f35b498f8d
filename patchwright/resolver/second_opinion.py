"""Ask a second model to look over a change that no test proves.

It sees the change and the commands that were run, but never the author's description.
Its doubts are shown next to the change. It neither proves nor removes anything.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, ValidationError

from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import LimitError, ModelError
from patchwright.core.text.escape import as_data, inline_code
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.evidence import Evidence, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.changes import ChangedPath
from patchwright.integrations.git.objects import ObjectStore

MAX_TASK_CHARS = 16_000
MAX_DIFF_CHARS = 40_000
# If there are more changes, none is read: a merge may bring any number of changes.
MAX_DIFF_BYTES = 5_000_000
MAX_DOUBT_CHARS = 600
MAX_PATHS = 100

# Puts a system text and a text to the judge model, and pays for it. Raises ModelError
# and LimitError.
AskModel = Callable[[str, str], ModelReply]

NO_DOUBT = "A second model reviewed the change and had no doubt; that is not a proof."
NOT_UNDERSTOOD = (
    "The second model's answer was unreadable, so the change is treated as doubtful."
)


class _JudgeReply(BaseModel):
    """The answer of the model; `"yes"` and `1` are read as true."""

    model_config = ConfigDict(extra="ignore")

    doubtful: bool
    doubt: str = ""


def needs_second_opinion(outcome: Outcome) -> bool:
    """Tell whether a second opinion is useful; a proven change needs none."""
    is_done = outcome.kind is OutcomeKind.RESOLVED and bool(outcome.head_sha)
    return is_done and outcome.proof is not Proof.PROVEN


def second_opinion(
    task: Task, outcome: Outcome, code: ObjectStore, ask: AskModel
) -> str:
    """Return a note about the change for its readers; raises GitError.

    The note also says if the model could not be asked or its answer not be read.
    """
    text = _write_prompt(task, outcome, code)
    try:
        reply = ask(_instructions(), text)
    except (ModelError, LimitError) as error:
        why = inline_code(truncate_middle(str(error), MAX_DOUBT_CHARS))
        return f"No second model could review the change: {why}"
    return read_opinion(reply.text)


def read_opinion(text: str) -> str:
    """Make a note from the answer of the model.

    The answer may repeat a stranger's words, so it is shown as a quoted line.
    """
    answer = _find_reply(text)
    if answer is None:
        return NOT_UNDERSTOOD
    doubt = " ".join(strip_hidden(answer.doubt).text.split())
    if not answer.doubtful:
        return NO_DOUBT
    if not doubt:
        return "A second model that reviewed the change doubts it, and gave no reason."
    shown = inline_code(truncate_middle(doubt, MAX_DOUBT_CHARS))
    return f"A second model that reviewed the change doubts it: {shown}"


def _find_reply(text: str) -> _JudgeReply | None:
    """Return the last object in the text that is an answer; ignore other text."""
    found: _JudgeReply | None = None
    reader = json.JSONDecoder(strict=False)
    for start in re.finditer(r"\{", text):
        try:
            value, _ = reader.raw_decode(text, start.start())
            found = _JudgeReply.model_validate(value)
        except (ValueError, RecursionError, ValidationError):
            continue
    return found


def _write_prompt(task: Task, outcome: Outcome, code: ObjectStore) -> str:
    """Write the text that the model reads."""
    base, head = outcome.base_sha or task.base_sha, outcome.head_sha
    diff = code.diff(base, head, MAX_DIFF_BYTES).decode("utf-8", "replace")
    parts = [
        f"# The task\n\n{truncate_middle(task.text, MAX_TASK_CHARS)}",
        "# The change",
        as_data("changed files", "git", _list_changes(code.changed_paths(base, head))),
        as_data("diff", "git", truncate_middle(diff, MAX_DIFF_CHARS)),
        "# What was run",
        *(_evidence_text(one) for one in outcome.evidence),
        "" if outcome.evidence else "Nothing.",
    ]
    return "\n\n".join(part for part in parts if part)


def _list_changes(changes: Sequence[ChangedPath]) -> str:
    lines = [f"{change.kind} {change.shown}" for change in changes[:MAX_PATHS]]
    more = len(changes) - len(lines)
    return "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])])


def _evidence_text(one: Evidence) -> str:
    ended = "did not end" if one.exit_code is None else f"exit code {one.exit_code}"
    text = f"$ {one.command}\n{one.tail}\n[{ended}]"
    return as_data(one.role.words, "controller", text)


@cache
def _instructions() -> str:
    text = files("patchwright.resolver").joinpath("judge.md")
    return text.read_text(encoding="utf-8").strip()
