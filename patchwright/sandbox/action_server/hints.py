"""The sentences that tell the model what an exit code does not say."""

from __future__ import annotations

import re

from patchwright.sandbox.action_server.processes import Process

KILLED = 137
TAIL = 400

RESTARTED = (
    "The shell ended and was restarted; the directory, variables and functions are"
    " those from before this command."
)
MAX_COMMAND_CHARACTERS = 60
CANCELLED = "Cancelled: the command and its children were killed."
PYTHON_CANCELLED = "Cancelled: the code was interrupted."
PYTHON_RESTARTED = "The interpreter ended and is started again; its variables are lost."
PYTHON_BUSY = (
    "The interpreter is busy with earlier code, and yours was not run. That is"
    " interrupted at its time limit: call again later, or use `shell`."
)

_ASKS = re.compile(
    r"EOFError|EOF when reading|not a (?:tty|TTY|terminal)"
    r"|\[[yY]/[nN]\]|\(y(?:es)?/no?\)|[Pp]ass(?:word|phrase)[^\n]*:\s*\Z|Abort(?:ed)?[.!]"
)
_READS = re.compile(r"(?:^|[\s;&|(])(?:read|select)\s")
_MEMORY = re.compile(
    r"MemoryError|[Cc]annot allocate memory|[Oo]ut of memory|bad_alloc"
)


def still_running(seconds: float) -> str:
    return (
        f"Still running after {seconds:g} s: use `shell_control` with this handle to"
        " poll for its end, write to it, or kill it."
    )


def busy(command: str) -> str:
    """Tell what became of a command that came while `command` still runs."""
    lines = command.strip().splitlines() or [""]
    shown = lines[0][:MAX_COMMAND_CHARACTERS]
    if [shown] != lines:
        shown += "..."
    return (
        f"The shell is busy with `{shown}`, and your command was not run: use"
        " `shell_control` with this handle to poll for its end, write to it, or kill"
        " it. Start a program with `&` if it runs beside others."
    )


def timed_out(seconds: float) -> str:
    return f"Timed out after {seconds:g} s; the command and its children were killed."


def killed() -> str:
    return "Killed, as asked, with its children."


def prompt_hint(command: str, exit_code: int, text: str) -> str:
    """Recognise a program that wanted an answer and found no standard input."""
    if exit_code == 0:
        return ""
    if not _ASKS.search(text[-TAIL:]) and not _READS.search(command):
        return ""
    return (
        "Standard input is empty: give the answers in `stdin`, or use the program's"
        " option for not asking."
    )


def memory_hint(exit_code: int, text: str, kills: int, limit_bytes: int) -> str:
    """Name the memory limit where a process died of it."""
    refused = exit_code != 0 and _MEMORY.search(text[-TAIL:])
    if not kills and not refused:
        return ""
    limit = f" of {limit_bytes >> 20} MiB" if limit_bytes else ""
    if kills and exit_code != KILLED:
        return f"A process was killed at the memory limit{limit}."
    return f"Killed, memory limit{limit} reached."


def disk_full(limit_bytes: int, files: int) -> str:
    return (
        f"All processes were killed: the files of this sandbox took more than its disk"
        f" limit of {limit_bytes >> 20} MiB, or were more than {files}. Remove some,"
        " in the repository, $HOME and /tmp, before you go on."
    )


def disk_given_up(limit_bytes: int) -> str:
    return (
        "the sandbox was ended: its files took more than its disk limit of"
        f" {limit_bytes >> 20} MiB again and again (sandbox.disk)"
    )


def memory_given_up(limit_bytes: int) -> str:
    return (
        "the sandbox was ended: it kept more than its memory limit of"
        f" {limit_bytes >> 20} MiB although its processes were killed (sandbox.memory)"
    )


def background_hint(processes: list[Process]) -> str:
    if not processes:
        return ""
    listed = ", ".join(f"{process.pid} {process.name}" for process in processes[:10])
    return f"Running in the background: {listed}."


def interrupted(seconds: float) -> str:
    return f"Interrupted after {seconds:g} s."


def python_crashed(code: int, memory: str, printed: str) -> str:
    text = (
        f"The Python interpreter ended with exit code {code}, and its variables are"
        " lost; the next call starts a new one."
    )
    output = f"Its last output:\n{printed}" if printed.strip() else ""
    return " ".join(filter(None, (text, memory, output)))


def whole_output(path: str) -> str:
    return f"The whole output is in {path}." if path else ""
