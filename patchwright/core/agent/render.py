"""An observation as text for the model."""

from typing import assert_never

from patchwright.core.events.types import (
    CommandOutput,
    ErrorObservation,
    FileContent,
    FileEdited,
    LoopDetected,
    Null,
    Observation,
    SearchResult,
    StateChanged,
)


def observation_text(observation: Observation) -> str:
    match observation:
        case CommandOutput():
            return _command_text(observation)
        case FileContent():
            return observation.text or "[the file is empty]"
        case FileEdited():
            return observation.diff or "[written; nothing changed]"
        case SearchResult():
            return observation.text or "[no match]"
        case ErrorObservation() | LoopDetected():
            return observation.text
        case StateChanged():
            return f"[{observation.state}]"
        case Null():
            return "[noted]"
        case _:
            assert_never(observation)


def _command_text(output: CommandOutput) -> str:
    return "\n".join(part for part in (output.output, _ending(output)) if part)


def _ending(output: CommandOutput) -> str:
    if output.still_running:
        ending = f"still running, handle {output.handle}"
    elif output.exit_code is None:
        ending = "no exit code"
    else:
        ending = f"exit code {output.exit_code}"
    parts = [ending, f"in {output.cwd}" if output.cwd else ""]
    if output.dropped_bytes:
        parts.append(
            f"{output.dropped_bytes} bytes left out; all of it is in "
            f"{output.full_output_path}"
        )
    parts.append(output.note)
    return f"[{'; '.join(part for part in parts if part)}]"
