"""What steps write into the runner's files is read as the runner reads it.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
"""

from pathlib import Path

import pytest

from tests.runner.files import (
    MAX_SUMMARY_BYTES,
    FileCommandError,
    StepFiles,
    parse_pairs,
    read_environment,
    read_outputs,
    read_path,
    read_summary,
)


@pytest.fixture
def files(tmp_path: Path) -> StepFiles:
    return StepFiles.make(tmp_path / "commands")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a=1\nb=2", {"a": "1", "b": "2"}),
        ("a=\n", {"a": ""}),
        ("a=x=y<<z\n", {"a": "x=y<<z"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a<<E\none\n\ntwo\nE\nb=3\n", {"a": "one\n\ntwo", "b": "3"}),
        ("a<<E\nE\n", {"a": ""}),
        ("a<<E\nE \n EE\nE\n", {"a": "E \n EE"}),
        ("a<<E\nb=not an output\nE\n", {"a": "b=not an output"}),
        ("a<<E\none\r\nE\n", {"a": "one\r"}),
    ],
)
def test_pairs(text: str, expected: dict[str, str]) -> None:
    assert parse_pairs(text) == expected


@pytest.mark.parametrize(
    "text",
    ["nothing", "=1", "<<E\nE\n", "a<<\n\n", "a<<E\nno end", "a<<E\nE\r\n"],
)
def test_what_the_runner_cannot_read_fails(text: str) -> None:
    with pytest.raises(FileCommandError):
        parse_pairs(text)


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "RUNNER_TEMP", "NODE_OPTIONS"])
def test_reserved_variables_cannot_be_set(files: StepFiles, name: str) -> None:
    files.env.write_text(f"{name}=mine\n")
    with pytest.raises(FileCommandError, match=name):
        read_environment(files.env)


def test_other_variables_can(files: StepFiles) -> None:
    files.env.write_text("COLOUR=blue\n")
    assert read_environment(files.env) == {"COLOUR": "blue"}


def test_folders_for_programs(files: StepFiles) -> None:
    files.path.write_text("/opt/one\n\n/opt/two\n")
    assert read_path(files.path) == ["/opt/one", "/opt/two"]


def test_a_summary_of_a_mebibyte_is_the_largest(files: StepFiles) -> None:
    files.step_summary.write_text("x" * MAX_SUMMARY_BYTES)
    assert len(read_summary(files.step_summary)) == MAX_SUMMARY_BYTES
    files.step_summary.write_text("x" * (MAX_SUMMARY_BYTES + 1))
    with pytest.raises(FileCommandError, match="1024k"):
        read_summary(files.step_summary)


def test_outputs_of_more_than_a_mebibyte_are_refused(files: StepFiles) -> None:
    files.output.write_text("a=" + "x" * (MAX_SUMMARY_BYTES + 1))
    with pytest.raises(FileCommandError, match="more than a job may have"):
        read_outputs(files.output)
