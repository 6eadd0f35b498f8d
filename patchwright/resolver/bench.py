"""Run a test command so that its runner reports to us, and read the report."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Final, Self

from patchwright.core.errors import RuntimeLostError, SandboxError
from patchwright.core.events.types import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.work import TestResults
from patchwright.resolver import reports
from patchwright.resolver.evidence import RunnerKind
from patchwright.resolver.recipes import find_runners, runs_changed_file
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
class ReportedCommand:
    """How one command is run. Without a `call` no runner's report is looked for.

    `script` is the command, after the variables by which runners write reports into
    `folder`. Its name is another each time, so that no change can know it.
    """

    script: str
    folder: str
    call: TestCall | None
    printed: tuple[RunnerKind, ...]

    @classmethod
    def prepare_report(
        cls, runtime: Runtime, command: str, changed: Collection[str], recipe: str
    ) -> Self:
        """Put what records the results into the sandbox.

        `recipe` is what the scripts of the repository run that the command calls.
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
        """Return what the runner has reported, if that can be read."""
        if self.call is None:
            return None
        runner = self.call.runner
        if runner in _WITH_JUNIT:
            xml = _download(runtime, f"{self.folder}/pytest.xml")
            if xml is not None:
                return reports.read_junit(runner, xml)
        if runner in _WITH_RECORDS:
            lines = _download(runtime, f"{self.folder}/unittest.jsonl")
            if lines is not None:
                return reports.read_records(runner, lines)
        if not self.printed:
            return None
        whole = _whole_output(runtime, output)
        if runner is RunnerKind.SCRIPT:
            return reports.read_script_results(self.printed, whole)
        return reports.read_printed_results(runner, whole)


_WITH_JUNIT: Final = (RunnerKind.PYTEST, RunnerKind.SCRIPT, RunnerKind.UNITTEST)
_WITH_RECORDS: Final = (RunnerKind.UNITTEST, RunnerKind.SCRIPT)


def _is_program_changed(call: TestCall, changed: Collection[str], recipe: str) -> bool:
    """Tell whether the change has to do with the program, which then says anything.

    It may be called from another folder, or through a link; so its name alone counts.
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
    """Return whose report is believed where it was only printed."""
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
    """Return all that was printed, unless its file is no longer what was printed."""
    if not output.full_output_path:
        return output.output
    data = _download(runtime, output.full_output_path)
    if data is None or hashlib.sha256(data).hexdigest() != output.digest:
        return output.output
    return _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
