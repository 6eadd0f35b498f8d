"""A terminal on the reader's machine: a shell that keeps what it was told."""

import subprocess
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Final, Self

from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until

# As on a desktop: what a package puts on the PATH is there in a new terminal.
_LOGIN: Final = ("bash", "--login")
# Something that no program of ours says.
_END: Final = "=#=#= ended with "
_START: Final = "exec 2>&1; failed=0; trap 'failed=$?' ERR; echo $$\n"
# What commands ask for on standard input they are not told: it is the script's.
_TYPED: Final = "failed=0\n{{\n{text}\n}} </dev/null\nprintf '{end}%s\\n' $failed\n"


@dataclass
class Shell:
    """Use it as a context; at its end it is gone, with what runs in it."""

    container: str
    folder: str = ""
    pid: int = 0
    _process: subprocess.Popen[bytes] = field(init=False)
    _reading: threading.Thread = field(init=False)
    _said: bytearray = field(default_factory=bytearray)
    _begin: int = 0

    def __enter__(self) -> Self:
        place = ["--workdir", self.folder] if self.folder else []
        self._process = subprocess.Popen(
            ["docker", "exec", "--interactive", *place, self.container, *_LOGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reading = threading.Thread(target=self._read)
        self._reading.start()
        self._write(_START)
        wait_until(lambda: self._said.endswith(b"\n"), "a shell", 30)
        self.pid = int(self._said)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reading.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def type(self, text: str) -> None:
        """Let it run these lines; they may go on running."""
        self._begin = len(self._said)
        self._write(_TYPED.format(text=text, end=_END))

    def finish(self, within_s: float) -> None:
        """Wait until the lines have run; each must have succeeded."""
        wait_until(self._has_ended, self.output or "the end", within_s)
        code = self._raw().rpartition(_END)[2].strip()
        if code != "0":
            raise ProvisionError(f"it ended with {code}, and said:\n{self.output}")

    @property
    def output(self) -> str:
        """What was said since the last lines were typed."""
        return self._raw().partition(_END)[0]

    def _has_ended(self) -> bool:
        if self._process.poll() is not None:
            raise ProvisionError(f"the shell is gone:\n{self._raw()}")
        _, end, code = self._raw().rpartition(_END)
        return bool(end) and code.endswith("\n")

    def _raw(self) -> str:
        return bytes(self._said[self._begin :]).decode(errors="replace")

    def _write(self, text: str) -> None:
        stream = self._stream(self._process.stdin)
        stream.write(text.encode())
        stream.flush()

    def _read(self) -> None:
        stream = self._stream(self._process.stdout)
        while data := stream.read1():  # type: ignore[attr-defined]
            self._said.extend(data)

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        if stream is None:
            raise ProvisionError("the shell has no such stream")
        return stream
