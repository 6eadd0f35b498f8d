"""Tell GitLab the result of a job: variables for later jobs, a summary, a code."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from patchwright.core.ci.result import (
    OUTPUTS,
    Result,
    cancelled_result,
    read_result,
)
from patchwright.core.ci.system import CiJob
from patchwright.integrations.gitlab.words import in_own_words

OUTPUT_PREFIX: Final = "PATCHWRIGHT_OUTPUT_"
DOTENV_FILE: Final = "outputs.env"
# What is JSON, or as long as a comment, is whole in this file alone.
OUTPUTS_FILE: Final = "outputs.json"
SUMMARY_FILE: Final = "summary.md"
_NOT_IN_DOTENV: Final = frozenset({"evidence", "structured-output", "left-out"})
DOTENV_OUTPUTS: Final = tuple(one for one in OUTPUTS if one not in _NOT_IN_DOTENV)
# GitLab refuses all of a larger file.
# https://docs.gitlab.com/administration/instance_limits/#limit-dotenv-file-size
_MOST_BYTES: Final = 5 * 1024
_LONG: Final = "summary"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# A runner puts the value of a variable in the place of its name.
_DOLLAR: Final = "\N{FULLWIDTH DOLLAR SIGN}"
_SECTION: Final = "patchwright"
_CLEAR: Final = "\x1b[0K"


def fold_start(at: datetime) -> str:
    """Return the line that folds what follows it."""
    name = f"section_start:{int(at.timestamp())}:{_SECTION}[collapsed=true]"
    return f"{_CLEAR}{name}\r{_CLEAR}The run of Patchwright\n"


def fold_end(at: datetime) -> str:
    return f"{_CLEAR}section_end:{int(at.timestamp())}:{_SECTION}\r{_CLEAR}\n"


def report(job: CiJob, fail_on: str, *, is_cancelled: bool) -> tuple[str, int]:
    """Write the files that GitLab reads; return what the log shows, and the exit code.

    Without a result, or after a cancelled one, it says that.
    """
    result = read_result(job.result)
    if is_cancelled and result.outputs.get("error-code") == "crashed":
        result = cancelled_result(result.outputs, "pipeline")
    root = f"{job.workspace}/"
    # A later job may have the artifacts at another place.
    outputs = {
        name: result.outputs.get(name, "").removeprefix(root) for name in OUTPUTS
    }
    outputs[_LONG] = in_own_words(outputs[_LONG])
    _write(job.artifacts / DOTENV_FILE, dotenv_text(outputs))
    whole = json.dumps(outputs, indent=2, ensure_ascii=False)
    _write(job.artifacts / OUTPUTS_FILE, f"{whole}\n")
    summary = in_own_words(result.summary.strip())
    _write(job.artifacts / SUMMARY_FILE, f"{summary}\n")
    return log_text(result, outputs), int(result.grade.fails(fail_on))


def dotenv_text(outputs: Mapping[str, str]) -> str:
    """Write each value on a line of its own; the summary gets the room that is left.

    Any other value for which there is none is left empty: half of it would be wrong.
    https://docs.gitlab.com/ci/yaml/artifacts_reports/#artifactsreportsdotenv
    """
    values = dict.fromkeys(DOTENV_OUTPUTS, "")
    room = _MOST_BYTES - len(_as_lines(values).encode())
    for name in DOTENV_OUTPUTS:
        text = _one_line(outputs.get(name, ""))
        if name != _LONG and len(text.encode()) <= room:
            values[name] = text
            room -= len(text.encode())
    told = _one_line(outputs.get(_LONG, "")).encode()[:room]
    return _as_lines({**values, _LONG: told.decode("utf-8", "ignore")})


def _as_lines(values: Mapping[str, str]) -> str:
    names = ((one.upper().replace("-", "_"), text) for one, text in values.items())
    return "".join(f"{OUTPUT_PREFIX}{name}={text}\n" for name, text in names)


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip().replace("$", _DOLLAR)


def log_text(result: Result, outputs: Mapping[str, str]) -> str:
    """Return the end of the log: how it ended, in words, and where to look."""
    code = outputs["error-code"]
    named = (("merge request", "pr-url"), ("note", "comment-url"))
    parts = (
        f"outcome: {outputs['outcome']}{f' ({code})' if code else ''}",
        *(f"{words}: {outputs[key]}" for words, key in named if outputs[key]),
        "",
        *(_CONTROL.sub(" ", line) for line in outputs[_LONG].splitlines()),
        *(f"warning: {_CONTROL.sub(' ', one)}" for one in result.notices),
    )
    return "".join(f"{line}\n" for line in parts)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", errors="replace")
