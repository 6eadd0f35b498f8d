"""Tell the runner the result: outputs, step summary, and whether the step fails.

It is run as a file, by whatever Python the runner has from 3.9 on, and also where
nothing could be set up, or the run was killed: what it says then is its own.
"""

import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

# A job may set a megabyte of each, and a summary of as much.
# https://docs.github.com/en/actions/reference/limits
_MOST_CHARS = 200_000
# The same as in `core.ci.result`, which cannot be imported here.
FAILING = {
    "error": ("error",),
    "unresolved": ("error", "unresolved"),
    "unproven": ("error", "unresolved", "unproven"),
    "never": (),
}
_LEVELS = {"error": "error", "unresolved": "warning", "unproven": "notice"}
_MOST_ANNOTATED = 500
_NOT_SET_UP = "Patchwright could not be set up; see the log of that step."
_CANCELLED = "The workflow run was cancelled before the run could report its result."
_CRASHED = "The run ended without a result: its process was killed, or could not start."


def main(environ: Mapping[str, str]) -> int:
    """Tell it, and return the exit code of the step."""
    grade, outputs, summary = _read(environ)
    notices = _read_notices(environ)
    told = "\n".join(f"- {one}" for one in notices)
    shown = f"{summary[:_MOST_CHARS]}\n\n{told}" if told else summary[:_MOST_CHARS]
    _append(environ.get("GITHUB_OUTPUT"), _as_outputs(outputs))
    _append(environ.get("GITHUB_STEP_SUMMARY"), f"{shown}\n")
    for one in notices:
        print(_command("warning", one))  # noqa: T201 - the runner reads it there
    print(_line(outputs))  # noqa: T201 - it is what the log of the step is for
    if grade in _LEVELS:
        text = f"{_line(outputs)}\n{outputs.get('summary', '')}"
        print(_command(_LEVELS[grade], text))  # noqa: T201 - the same
    fail_on = environ.get("PATCHWRIGHT_ACTION_FAIL_ON", "")
    return int(grade in FAILING.get(fail_on, FAILING["error"]))


def _read(environ: Mapping[str, str]) -> tuple[str, dict[str, str], str]:
    """Return grade, outputs and summary of the run; or say why it has left none."""
    folder = environ.get("PATCHWRIGHT_ACTION_FOLDER")
    was_cancelled = environ.get("PATCHWRIGHT_ACTION_JOB_STATUS") == "cancelled"
    try:
        result = json.loads(
            (Path(folder or "/nowhere") / "result.json").read_text("utf-8")
        )
        grade, summary = str(result["grade"]), str(result["summary"])
        outputs = {str(name): str(text) for name, text in result["outputs"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _missing_result(environ, {}, was_cancelled=was_cancelled)
    if was_cancelled and outputs.get("error-code") == "crashed":
        return _missing_result(environ, outputs, was_cancelled=True)
    return grade, outputs, summary


def _read_notices(environ: Mapping[str, str]) -> list[str]:
    """Return what the workflow should call otherwise; nothing without a result."""
    folder = environ.get("PATCHWRIGHT_ACTION_FOLDER") or "/nowhere"
    try:
        result = json.loads((Path(folder) / "result.json").read_text("utf-8"))
        return [str(one) for one in result.get("notices", ())]
    except (OSError, ValueError, TypeError, AttributeError):
        return []


def _missing_result(
    environ: Mapping[str, str], known: Mapping[str, str], *, was_cancelled: bool
) -> tuple[str, dict[str, str], str]:
    code = environ.get("PATCHWRIGHT_ACTION_SET_UP_CODE", "")
    text = environ.get("PATCHWRIGHT_ACTION_SET_UP_ERROR", "") or _NOT_SET_UP
    outcome, grade = "failed", "error"
    if was_cancelled:
        outcome, grade, code, text = "stopped", "unresolved", "cancelled", _CANCELLED
    elif not code and environ.get("PATCHWRIGHT_ACTION_PYTHON"):
        code, text = "crashed", _CRASHED
    code = code or "set-up-failed"
    outputs = {**known, "outcome": outcome, "error-code": code, "summary": text}
    return grade, outputs, f"**{outcome.capitalize()}** (`{code}`)\n\n{text}"


def _as_outputs(outputs: Mapping[str, str]) -> str:
    """Write what is known; no text can end where it is not to end.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
    """
    end = f"end-{secrets.token_hex(16)}"
    texts = ((name, text[:_MOST_CHARS]) for name, text in outputs.items())
    return "".join(f"{name}<<{end}\n{text}\n{end}\n" for name, text in texts)


def _append(path: "str | None", text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)


def _line(outputs: Mapping[str, str]) -> str:
    code = outputs.get("error-code", "")
    parts = ("outcome:", outputs["outcome"], f"({code})" if code else "")
    return " ".join(part for part in parts if part)


def _command(level: str, text: str) -> str:
    """Write a command of the runner; its text stays text.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
    """
    text = text[:_MOST_ANNOTATED]
    for character, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(character, escape)
    return f"::{level} title=Patchwright::{text}"


if __name__ == "__main__":
    sys.exit(main(os.environ))  # noqa: TID251 - it is run as a file, with no settings
