"""The last step tells a result in any case, and no text can forge another output."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from patchwright.core.ci.result import FAILING, OUTPUTS, Grade, Result
from patchwright.integrations.github.ci import finish

FORGED = "fine\nend\noutcome<<x\nresolved\nx\n::set-output name=outcome::resolved"
_OUTPUT = re.compile(
    r"^(?P<name>[a-z-]+)<<(?P<end>[^\n]+)\n(?P<text>.*?)\n(?P=end)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Told:
    code: int
    outputs: dict[str, str]
    summary: str
    log: str


def tell(folder: Path, **variables: str) -> Told:
    """Run the file as the runner does, and read what it has told."""
    output, summary = folder / "output", folder / "summary"
    named = {f"PATCHWRIGHT_ACTION_{name}": text for name, text in variables.items()}
    done = subprocess.run(
        [sys.executable, "-I", finish.__file__],
        env={
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "PATCHWRIGHT_ACTION_FOLDER": str(folder),
            **named,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found = {m["name"]: m["text"] for m in _OUTPUT.finditer(output.read_text("utf-8"))}
    return Told(done.returncode, found, summary.read_text("utf-8"), done.stdout)


def leave(folder: Path, grade: str, **outputs: str) -> None:
    named = {name.replace("_", "-"): text for name, text in outputs.items()}
    told = {"grade": grade, "outputs": named, "summary": "**Said**"}
    (folder / "result.json").write_text(json.dumps(told), "utf-8")


def test_former_names_are_told_beside_the_job_and_in_the_summary(
    tmp_path: Path,
) -> None:
    notice = "input `pr-type` is now `deliver`; 100% the same."
    result = {
        "grade": "good",
        "outputs": {"outcome": "answered"},
        "summary": "**Said**",
    }
    told = json.dumps(result | {"notices": [notice]})
    (tmp_path / "result.json").write_text(told, "utf-8")
    said = tell(tmp_path)
    assert said.summary == f"**Said**\n\n- {notice}\n"
    assert said.log == (
        "::warning title=Patchwright::input `pr-type` is now `deliver`; 100%25 the "
        "same.\noutcome: answered\n"
    )


def test_every_output_is_set_and_text_stays_text(tmp_path: Path) -> None:
    result = Result(Grade.GOOD, {"outcome": "answered", "summary": FORGED}, "**Said**")
    result.write(tmp_path / "result.json", str)
    told = tell(tmp_path)
    assert tuple(told.outputs) == OUTPUTS
    assert told.outputs["outcome"] == "answered"
    assert told.outputs["summary"] == FORGED
    assert told.outputs["pr-url"] == ""
    assert told.summary == "**Said**\n"


@pytest.mark.parametrize(
    ("grade", "fail_on", "code"),
    [
        ("good", "unresolved", 0),
        ("good", "unproven", 0),
        ("unproven", "error", 0),
        ("unproven", "unresolved", 0),
        ("unproven", "unproven", 1),
        ("unresolved", "unproven", 1),
        ("error", "unproven", 1),
        ("unproven", "never", 0),
        ("unresolved", "error", 0),
        ("unresolved", "unresolved", 1),
        ("error", "error", 1),
        ("error", "never", 0),
        ("error", "nonsense", 1),
    ],
)
def test_the_step_fails_as_the_input_says(
    grade: str, fail_on: str, code: int, tmp_path: Path
) -> None:
    leave(tmp_path, grade, outcome="stuck")
    assert tell(tmp_path, FAIL_ON=fail_on).code == code


def test_the_step_fails_as_the_job_of_any_other_ci() -> None:
    assert finish.FAILING == FAILING


def test_s41_without_a_record_it_says_so_and_does_not_crash(tmp_path: Path) -> None:
    told = tell(tmp_path, PYTHON="/venv/bin/python")
    assert told.code == 1
    assert told.outputs == {
        "outcome": "failed",
        "error-code": "crashed",
        "summary": "The run ended without a result: its process was killed, or could "
        "not start.",
    }


@pytest.mark.parametrize("text", ["", "{", "[]", '{"grade": 1}'])
def test_s41_an_unreadable_record_is_ignored(text: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(text, "utf-8")
    assert tell(tmp_path, PYTHON="python").outputs["error-code"] == "crashed"


def test_what_went_wrong_with_the_set_up_is_told(tmp_path: Path) -> None:
    told = tell(
        tmp_path, FOLDER="", SET_UP_CODE="no-python", SET_UP_ERROR="Python is needed"
    )
    assert told.outputs["error-code"] == "no-python"
    assert "Python is needed" in told.summary
    assert "::error title=Patchwright::" in told.log


def test_a_cancelled_run_that_was_killed_was_stopped(tmp_path: Path) -> None:
    leave(tmp_path, "error", outcome="failed", error_code="crashed", run_id="7f3a")
    told = tell(tmp_path, JOB_STATUS="cancelled", PYTHON="python")
    assert told.code == 0
    assert told.outputs["outcome"] == "stopped"
    assert told.outputs["run-id"] == "7f3a"


def test_an_annotation_holds_one_command(tmp_path: Path) -> None:
    leave(tmp_path, "error", outcome="failed", summary="50%\n::add-mask::x")
    [line] = [one for one in tell(tmp_path).log.splitlines() if one.startswith("::")]
    assert line.endswith("50%25%0A::add-mask::x")
