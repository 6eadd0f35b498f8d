"""Scripts of steps as processes, started and cancelled as the runner does."""

import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import killpg
from pathlib import Path
from typing import Final

# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
INTERRUPT_S: Final = 7.5
TERMINATE_S: Final = 2.5
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
SHELLS: Final = {"bash": ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")}


@dataclass
class Processes:
    """Runs one script at a time; another thread may cancel or kill it."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    _running: subprocess.Popen[bytes] | None = None

    def run(
        self,
        argv: list[str],
        environment: Mapping[str, str],
        folder: Path,
        take: Callable[[str], None],
    ) -> int:
        """Run it to its end, line by line; return its exit code."""
        with subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            self._running = process
            try:
                for line in process.stdout or ():
                    take(line.decode(errors="replace").rstrip("\r\n"))
                return process.wait()
            finally:
                self._running = None
                _kill_all(process)

    def cancel(self) -> None:
        """Tell the entry process, and it alone; who does not end in time is killed."""
        self.cancelled.set()
        process = self._running
        if process is None:
            return
        process.send_signal(signal.SIGINT)
        if not _ends(process, INTERRUPT_S):
            process.send_signal(signal.SIGTERM)
            if not _ends(process, TERMINATE_S):
                _kill_all(process)

    def kill(self) -> None:
        """Let everything that runs be gone, as when memory runs out."""
        if self._running is not None:
            _kill_all(self._running)


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is not None


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        killpg(process.pid, signal.SIGKILL)
