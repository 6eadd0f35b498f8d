"""An observation as text for the model."""

from typing import assert_never

from patchwright.core.events.types import (
    BrowserOutput,
    CommandOutput,
    Condensed,
    DelegateResult,
    ErrorObservation,
    FileContent,
    FileEdited,
    IpythonOutput,
    LoopDetected,
    McpResult,
    Null,
    Observation,
    PlanApproved,
    Recalled,
    SandboxObservation,
    SearchResult,
    StateChanged,
    UserRejected,
)


def observation_text(observation: Observation) -> str:
    if isinstance(observation, SandboxObservation):
        return _sandbox_text(observation)
    match observation:
        case McpResult():
            return _mcp_text(observation)
        case DelegateResult():
            return f"[{observation.outcome}]\n{observation.summary}"
        case LoopDetected() | Recalled() | UserRejected() | PlanApproved():
            return observation.text
        case StateChanged():
            return f"[{observation.state}]"
        case Condensed():
            return "[condensed]"
        case Null():
            return "[noted]"
        case _:
            assert_never(observation)


def _sandbox_text(observation: SandboxObservation) -> str:
    match observation:
        case CommandOutput():
            return _command_text(observation)
        case IpythonOutput():
            return _python_text(observation)
        case FileContent():
            return observation.text or "[the file is empty]"
        case FileEdited():
            return observation.diff or "[written; nothing changed]"
        case SearchResult():
            return observation.text or "[no match]"
        case BrowserOutput():
            return _page_text(observation)
        case ErrorObservation():
            return observation.text
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


def _python_text(output: IpythonOutput) -> str:
    parts = ["it raised" if output.failed else ""]
    if output.dropped_bytes:
        parts.append(f"{output.dropped_bytes} bytes left out")
    parts.append(output.note)
    ending = "; ".join(part for part in parts if part)
    shown = [output.output, f"[{ending}]" if ending else ""]
    return "\n".join(part for part in shown if part) or "[nothing printed]"


def _page_text(page: BrowserOutput) -> str:
    status = f"status {page.status}" if page.status else ""
    cut = "cut off here" if page.truncated else ""
    ending = "; ".join(part for part in (status, page.url, cut) if part)
    shown = (page.title, page.text or "[the page is empty]", f"[{ending}]")
    return "\n".join(part for part in shown if part)


def _mcp_text(result: McpResult) -> str:
    text = result.text or "[nothing was returned]"
    return f"[the tool failed]\n{text}" if result.failed else text
