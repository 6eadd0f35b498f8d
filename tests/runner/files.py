"""The files by which a step tells the runner something, as the runner reads them.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#environment-files
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_SUMMARY_BYTES: Final = 1024 * 1024
# All outputs of a job together.
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idoutputs
MAX_OUTPUT_BYTES: Final = 1024 * 1024
_RESERVED: Final = ("GITHUB_", "RUNNER_")


class FileCommandError(Exception):
    """What a step wrote is not what the runner can read."""


@dataclass(frozen=True)
class StepFiles:
    """The files of one step; they are new for each."""

    output: Path
    env: Path
    path: Path
    state: Path
    step_summary: Path

    @classmethod
    def make(cls, folder: Path) -> "StepFiles":
        folder.mkdir(parents=True, exist_ok=True)
        suffix = secrets.token_hex(8)
        names = ("set_output", "set_env", "add_path", "save_state", "step_summary")
        files = [folder / f"{name}_{suffix}" for name in names]
        for file in files:
            file.touch()
        return cls(*files)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_ENV": str(self.env),
            "GITHUB_PATH": str(self.path),
            "GITHUB_STATE": str(self.state),
            "GITHUB_STEP_SUMMARY": str(self.step_summary),
        }


def read_outputs(file: Path) -> dict[str, str]:
    pairs = parse_pairs(_text(file))
    size = sum(len(value.encode()) for value in pairs.values())
    if size > MAX_OUTPUT_BYTES:
        raise FileCommandError(f"outputs of {size} bytes are more than a job may have")
    return pairs


def read_environment(file: Path) -> dict[str, str]:
    pairs = parse_pairs(_text(file))
    for name in pairs:
        if name.startswith(_RESERVED) or name == "NODE_OPTIONS":
            raise FileCommandError(f"{name} cannot be set by a step")
    return pairs


def read_path(file: Path) -> list[str]:
    return [line for line in _text(file).splitlines() if line]


def read_summary(file: Path) -> str:
    size = file.stat().st_size
    if size > MAX_SUMMARY_BYTES:
        raise FileCommandError(
            f"$GITHUB_STEP_SUMMARY supports content up a size of "
            f"{MAX_SUMMARY_BYTES // 1024}k, got {size // 1024}k"
        )
    return _text(file)


def parse_pairs(text: str) -> dict[str, str]:
    """Read `name=value` lines and `name<<end` blocks."""
    pairs: dict[str, str] = {}
    lines = iter(text.removesuffix("\n").split("\n"))
    for line in lines:
        if line:
            name, value = _pair(line, lines)
            pairs[name] = value
    return pairs


def _pair(line: str, rest: Iterator[str]) -> tuple[str, str]:
    equals, block = line.find("="), line.find("<<")
    if equals < 0 and block < 0:
        raise FileCommandError(f"Invalid format '{line}'")
    is_block = block >= 0 and not 0 <= equals < block
    name, _, value = line.partition("<<" if is_block else "=")
    if not name or (is_block and not value):
        raise FileCommandError(f"Invalid format '{line}': name or delimiter is empty")
    return name, _until(value, rest) if is_block else value


def _until(delimiter: str, rest: Iterator[str]) -> str:
    lines: list[str] = []
    for line in rest:
        if line == delimiter:
            return "\n".join(lines)
        lines.append(line)
    raise FileCommandError(f"Invalid value. Matching delimiter not found '{delimiter}'")


def _text(file: Path) -> str:
    # Line ends are kept as they are: a carriage return belongs to the value.
    return file.read_bytes().decode()
