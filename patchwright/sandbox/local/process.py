"""An action server as a child process of ours."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import IO

from patchwright.core.errors import SandboxError

CHUNK = 1 << 16
END_S = 5.0
LAST_WORDS = 4000


class ProcessStream:
    """Standard input and output of a process; see `connection.Stream`."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._words = ""
        if process.stdin is None or process.stdout is None:
            raise SandboxError("the action server was started without its pipes")
        self._stdin = process.stdin
        self._stdout = process.stdout

    def read(self) -> bytes:
        return os.read(self._stdout.fileno(), CHUNK)

    def write(self, data: bytes) -> None:
        if self._stdin.closed:
            raise BrokenPipeError
        rest = memoryview(data)
        while rest:
            rest = rest[self._stdin.write(rest) :]

    def last_words(self) -> str:
        if not self._errors.closed:
            size = os.fstat(self._errors.fileno()).st_size
            start = max(size - LAST_WORDS, 0)
            words = os.pread(self._errors.fileno(), LAST_WORDS, start)
            self._words = words.decode(errors="replace")
        return self._words

    def close(self) -> None:
        """Let the server end by closing its input; kill it if it does not."""
        self._stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def release(self) -> None:
        """Close what is still open, once nobody reads any more."""
        self.last_words()
        self._stdout.close()
        self._errors.close()


def start_process(
    command: Sequence[str],
    *,
    user: int | None = None,
    pass_fds: Sequence[int] = (),
) -> ProcessStream:
    """Start a command with an empty environment, as `user` if that is given."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `release`

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={},
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            pass_fds=pass_fds,
            start_new_session=True,
        )

    try:
        process = _call_in_lasting_thread(start)
    except OSError as error:
        errors.close()
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    return ProcessStream(process, errors)


def _call_in_lasting_thread(
    start: Callable[[], subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Start a process from a thread that stays until the process ends.

    A child that asks to die with its parent does so with the *thread* that started it.
    https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
    """
    started: Future[subprocess.Popen[bytes]] = Future()

    def own() -> None:
        try:
            process = start()
        except OSError as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()

    Thread(target=own, daemon=True).start()
    return started.result()
