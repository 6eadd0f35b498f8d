"""Run a test command so that its runner reports to us, and read the report."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from secrets import token_hex
from typing import Final, Self

from patchwright.core.errors import RuntimeLostError, SandboxError
from patchwright.core.events.types import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.work import TestResults
from patchwright.resolver import reports
from patchwright.resolver.evidence import Runner
from patchwright.resolver.runners import (
    TestCall,
    read_call,
    with_python_path,
)
from patchwright.sandbox.inside.unittest_recorder import VARIABLE

_MAX_REPORT_BYTES: Final = 32 << 20
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A script of the repository's may be the change's own by what it calls.
_SHELL_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".mk")


@dataclass(frozen=True)
class Bench:
    """How one command is run. Without a `call` no runner's report is looked for.

    `script` is the command, after the variables by which runners write reports into
    `folder`. Its name is another each time, so that no change can know it.
    """

    script: str
    folder: str
    call: TestCall | None
    reads_output: bool

    @classmethod
    def lay(cls, runtime: Runtime, command: str, changed: Collection[str]) -> Self:
        """Put what records the results into the sandbox."""
        call = read_call(command)
        # A program that the change has brought along reports what it likes.
        if call is None or call.program.removeprefix("./") in changed:
            return cls(command, "", None, reads_output=False)
        folder = f"/workspace/reports-{token_hex(8)}"
        inside = files("patchwright.sandbox.inside")
        source = inside.joinpath("unittest_recorder.py").read_bytes()
        runtime.upload(f"{folder}/sitecustomize.py", source)
        scripts = [path for path in changed if path.endswith(_SHELL_SCRIPTS)]
        is_open = call.runner is Runner.SCRIPT and bool(scripts)
        return cls(_script(command, folder), folder, call, reads_output=not is_open)

    def read(self, runtime: Runtime, output: CommandOutput) -> TestResults | None:
        """Return what the runner has reported, if that can be read."""
        if self.call is None:
            return None
        runner = self.call.runner
        if runner in _WITH_JUNIT:
            xml = _download(runtime, f"{self.folder}/pytest.xml")
            if xml is not None:
                return reports.of_junit(runner, xml)
        if runner in _WITH_RECORDS:
            lines = _download(runtime, f"{self.folder}/unittest.jsonl")
            if lines is not None:
                return reports.of_records(runner, lines)
        if not self.reads_output:
            return None
        return reports.of_output(runner, _whole(runtime, output))


_WITH_JUNIT: Final = (Runner.PYTEST, Runner.SCRIPT, Runner.UNITTEST)
_WITH_RECORDS: Final = (Runner.UNITTEST, Runner.SCRIPT)


def _script(command: str, folder: str) -> str:
    inside = f'"$WORKSPACE"{folder.removeprefix("/workspace")}'
    variables = (
        f'PYTHONPATH={inside}"${{PYTHONPATH:+:$PYTHONPATH}}"',
        f"{VARIABLE}={inside}/unittest.jsonl",
        f'PYTEST_ADDOPTS="$PYTEST_ADDOPTS --junitxml="{inside}/pytest.xml',
        'GOFLAGS="$GOFLAGS -json"',
    )
    return f"export {' '.join(variables)}\n{with_python_path(command)}"


def _download(runtime: Runtime, path: str) -> bytes | None:
    try:
        return runtime.download(path, _MAX_REPORT_BYTES)
    except RuntimeLostError:
        raise
    except SandboxError:  # it was not written, or is larger than any report
        return None


def _whole(runtime: Runtime, output: CommandOutput) -> str:
    """Return all that was printed, unless its file is no longer what was printed."""
    if not output.full_output_path:
        return output.output
    data = _download(runtime, output.full_output_path)
    if data is None or hashlib.sha256(data).hexdigest() != output.digest:
        return output.output
    return _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
