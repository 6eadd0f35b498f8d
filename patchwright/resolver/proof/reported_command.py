"""Run a command so that its test runner's report can be read afterwards."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Final, Self

from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.core.types.evidence import TestResults
from patchwright.resolver.proof import runner_reports
from patchwright.resolver.proof.repository_scripts import (
    find_runners,
    runs_changed_file,
)
from patchwright.resolver.proof.runner_calls import (
    TestCall,
    read_call,
    with_python_path,
)
from patchwright.resolver.proof.runners import RunnerKind
from patchwright.sandbox.inside.unittest_recorder import VARIABLE

_MAX_REPORT_BYTES: Final = 32 << 20
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A script of the repository may call files that the change itself edited.
_SHELL_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".mk")


@dataclass(frozen=True)
class ReportedCommand:
    """How one command is run. Without a `call` no test runner's report is expected.

    `script` sets the variables that make test runners write reports into `folder`, and
    then runs the command. The folder's name is new each time, so that no change can
    know it.
    """

    script: str
    folder: str
    call: TestCall | None
    printed: tuple[RunnerKind, ...]

    @classmethod
    def prepare_report(
        cls, runtime: Runtime, command: str, changed: Collection[str], recipe: str
    ) -> Self:
        """Put the result recorder into the sandbox.

        `recipe` has the commands inside the repository's scripts that are called.
        """
        call = read_call(command)
        if call is None or _is_program_changed(call, changed, recipe):
            return cls(command, "", None, ())
        folder = f"/workspace/reports-{token_hex(8)}"
        inside = files("patchwright.sandbox.inside")
        source = inside.joinpath("unittest_recorder.py").read_bytes()
        runtime.upload(f"{folder}/sitecustomize.py", source)
        printed = _believed_runners(call, changed, recipe)
        return cls(_reporting_script(command, folder), folder, call, printed)

    def read(self, runtime: Runtime, output: CommandOutput) -> TestResults | None:
        """Return the test runner's report, if it can be read."""
        if self.call is None:
            return None
        runner = self.call.runner
        if runner in _WITH_JUNIT:
            xml = _download(runtime, f"{self.folder}/pytest.xml")
            if xml is not None:
                return runner_reports.read_junit(runner, xml)
        if runner in _WITH_RECORDS:
            lines = _download(runtime, f"{self.folder}/unittest.jsonl")
            if lines is not None:
                return runner_reports.read_records(runner, lines)
        if not self.printed:
            return None
        whole = _whole_output(runtime, output)
        if runner is RunnerKind.SCRIPT:
            return runner_reports.read_script_results(self.printed, whole)
        return runner_reports.read_printed_results(runner, whole)


_WITH_JUNIT: Final = (RunnerKind.PYTEST, RunnerKind.SCRIPT, RunnerKind.UNITTEST)
_WITH_RECORDS: Final = (RunnerKind.UNITTEST, RunnerKind.SCRIPT)


def _is_program_changed(call: TestCall, changed: Collection[str], recipe: str) -> bool:
    """Tell whether the change edits the program; then its output proves nothing.

    It may be called from another folder or through a link, so only its name counts.
    """
    programs = [PurePosixPath(one) for one in call.programs]
    names = {one.name for one in programs}
    above = {str(folder) for one in programs for folder in one.parents}
    return runs_changed_file(recipe, changed) or any(
        path in above or PurePosixPath(path).name in names for path in changed
    )


def _believed_runners(
    call: TestCall, changed: Collection[str], recipe: str
) -> tuple[RunnerKind, ...]:
    """Return the test runner whose printed report is accepted."""
    if call.runner is not RunnerKind.SCRIPT:
        return (call.runner,)
    is_open = any(path.endswith(_SHELL_SCRIPTS) for path in changed)
    return () if is_open else find_runners(recipe)


def _reporting_script(command: str, folder: str) -> str:
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


def _whole_output(runtime: Runtime, output: CommandOutput) -> str:
    """Return the whole output; the shortened one if the file was changed since."""
    if not output.full_output_path:
        return output.output
    data = _download(runtime, output.full_output_path)
    if data is None or hashlib.sha256(data).hexdigest() != output.digest:
        return output.output
    return _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
