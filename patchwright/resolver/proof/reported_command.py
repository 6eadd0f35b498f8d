"""Run a command so that its test runner's report can be read afterwards."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Final, Self

from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.core.types.evidence import RunStatus, TestResults
from patchwright.resolver.proof import report_options as options
from patchwright.resolver.proof.printed_reports import (
    as_script_report,
    read_printed_report,
    read_script_report,
    text_of_go,
)
from patchwright.resolver.proof.report_options import plain_script, reporting_script
from patchwright.resolver.proof.repository_scripts import (
    called_runner,
    find_runners,
    recipe_of,
    runs_changed_file,
)
from patchwright.resolver.proof.run_status import status_of_run
from patchwright.resolver.proof.runner_calls import TestCall, read_call
from patchwright.resolver.proof.runner_reports import (
    RunnerReport,
    merge_reports,
    read_jest,
    read_junit,
    read_records,
    read_rspec,
)
from patchwright.resolver.proof.runners import RunnerKind
from patchwright.sandbox.inside import pytest_recorder

_MAX_REPORT_BYTES: Final = 32 << 20
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A script of the repository may call files that the change itself edited.
_SHELL_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".mk")


@dataclass(frozen=True)
class RunReport:
    """How a command ended, what its runner reported, and what it printed for people."""

    status: RunStatus
    results: TestResults | None
    printed: str


@dataclass(frozen=True)
class ReportedCommand:
    """How one command is run. Without a `call` no test runner's report is expected.

    `command` is what is run of the command that was named. `script` sets the variables
    that make test runners write reports into `folder`, and then runs it. The folder's
    name is new each time, so that no change can know it.
    """

    command: str
    script: str
    folder: str = ""
    call: TestCall | None = None
    printed: tuple[RunnerKind, ...] = ()

    @classmethod
    def prepare_report(
        cls,
        runtime: Runtime,
        command: str,
        changed: Collection[str],
        scripts: Mapping[str, str],
    ) -> Self:
        """Put the recorders of results into the sandbox.

        `scripts` are the files by their paths that may say what a script is that is
        called.
        """
        call, recipe = read_call(command), recipe_of(command, scripts)
        if call is None or _is_program_changed(call, changed, recipe):
            return cls(command, plain_script(command))
        folder = f"/workspace/reports-{token_hex(8)}"
        for name, content in _recorders():
            runtime.upload(f"{folder}/{name}", content)
        printed = _believed_runners(call, changed, recipe)
        # Its arguments may be those of the runner that the script calls.
        run = called_runner(call, scripts) if printed else call
        inside = f'"$WORKSPACE"{folder.removeprefix("/workspace")}'
        script = reporting_script(run, "$patchwright_reports", recipe)
        script = f"patchwright_reports={inside}\n{script}"
        return cls(call.command, script, folder, run, printed)

    def read(self, runtime: Runtime, output: CommandOutput) -> RunReport:
        """Return what the command has come to, by its runner's report if there is one.

        Of Go, what is printed is what people know, and not the events.
        """
        whole = _whole_output(runtime, output)
        report = self._read_report(runtime, whole)
        runner = self.call.runner if self.call else None
        status = status_of_run(runner, output.exit_code, report, whole)
        is_go = runner is RunnerKind.GO or RunnerKind.GO in self.printed
        return RunReport(
            status,
            report.results if report and status is not RunStatus.TIMED_OUT else None,
            text_of_go(whole) if is_go else output.output,
        )

    def _read_report(self, runtime: Runtime, printed: str) -> RunnerReport | None:
        if self.call is None:
            return None
        runner = self.call.runner
        root = (_download(runtime, f"{self.folder}/{options.ROOT}") or b"").decode()
        found: list[RunnerReport] = []
        for name, readers, read in _READERS:
            if runner in readers and not (found and name == options.PYTEST_XML):
                data = _download(runtime, f"{self.folder}/{name}")
                report = read(runner, data, root.strip()) if data else None
                if data and report is None:  # it breaks off
                    return None
                found += [report] if report else []
        if found:
            merged = merge_reports(runner, found)
            is_script = runner is RunnerKind.SCRIPT
            return as_script_report(merged) if is_script else merged
        if runner is RunnerKind.SCRIPT:
            return read_script_report(self.printed, printed)
        return read_printed_report(runner, printed) if self.printed else None


_Read = Callable[[RunnerKind, bytes, str], RunnerReport | None]


def _read_lines(runner: RunnerKind, data: bytes, root: str) -> RunnerReport | None:
    del root  # the recorders know it
    return read_records(runner, data)


def _read_xml(runner: RunnerKind, data: bytes, root: str) -> RunnerReport | None:
    documents = [one for one in data.split(b"\0") if one.strip()]
    return read_junit(runner, *documents, root=root)


_K = RunnerKind
# Which files are read of which runners. A test module may call pytest by itself.
_READERS: Final[tuple[tuple[str, tuple[RunnerKind, ...], _Read], ...]] = (
    (options.PYTEST_RECORDS, (_K.PYTEST, _K.UNITTEST, _K.SCRIPT), _read_lines),
    (options.PYTEST_XML, (_K.PYTEST, _K.UNITTEST, _K.SCRIPT), _read_xml),
    (options.UNITTEST_RECORDS, (_K.UNITTEST, _K.SCRIPT), _read_lines),
    (options.NODE_RECORDS, (_K.NODE, _K.SCRIPT), _read_lines),
    (options.MOCHA_RECORDS, (_K.MOCHA,), _read_lines),
    (options.JEST_JSON, (_K.JEST, _K.VITEST), read_jest),
    (options.RSPEC_JSON, (_K.RSPEC, _K.SCRIPT), read_rspec),
    (options.PHPUNIT_XML, (_K.PHPUNIT,), _read_xml),
    (options.CTEST_XML, (_K.CTEST,), _read_xml),
    (options.JAVA_XML, (_K.MAVEN, _K.GRADLE), _read_xml),
)


def _recorders() -> Iterator[tuple[str, bytes]]:
    """Yield the files by which runners report, by the names that they look for."""
    inside = files("patchwright.sandbox.inside")
    installed = f"{pytest_recorder.MODULE}-1.dist-info"
    yield "sitecustomize.py", inside.joinpath("unittest_recorder.py").read_bytes()
    yield (
        f"{pytest_recorder.MODULE}.py",
        inside.joinpath("pytest_recorder.py").read_bytes(),
    )
    yield f"{installed}/entry_points.txt", pytest_recorder.ENTRY_POINTS.encode()
    yield f"{installed}/METADATA", pytest_recorder.METADATA.encode()
    for name in ("node_reporter.mjs", "mocha_reporter.cjs"):
        yield name, inside.joinpath(name).read_bytes()


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
