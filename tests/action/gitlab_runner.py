"""A runner of GitLab's that carries our template out, in shells of this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.architecture.test_gitlab_template import filled_in, job

_SHELL: Final = ("bash", "-e", "-o", "pipefail", "-c")


def template_variables() -> dict[str, str]:
    """Return the job's own variables, as GitLab makes them of the defaults."""
    written: Mapping[str, Any] = filled_in(job()["variables"])
    return {
        name: str(one["value"] if isinstance(one, dict) else one)
        for name, one in written.items()
    }


@dataclass
class GitLabRunner:
    """One job; variables of the pipeline win over those of the template."""

    folder: Path
    variables: Mapping[str, str]
    log: str = ""
    is_cancelled: bool = False
    _scripts: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return Path(self.variables["CI_PROJECT_DIR"])

    def run(self) -> int:
        """Do the job; return the exit code of its script."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        lines = [*job()["before_script"], *job()["script"]]
        code = self._run("\n".join(lines), {})
        status = "canceled" if self.is_cancelled else "failed" if code else "success"
        self._run("\n".join(job()["after_script"]), {"CI_JOB_STATUS": status})
        return code

    def cancel(self) -> None:
        """Tell all processes of the job but its shell, which is the first of all."""
        self.is_cancelled = True
        self.send(signal.SIGTERM)

    def send(self, number: signal.Signals) -> None:
        shell = self._scripts[-1].pid
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text()
        for child in children.split():
            os.kill(int(child), number)

    def artifacts(self) -> dict[str, bytes]:
        """Return what is kept, by its path in the project."""
        kept = [
            file
            for path in job()["artifacts"]["paths"]
            for file in (self.workspace / path).rglob("*")
        ]
        return {
            str(file.relative_to(self.workspace)): file.read_bytes() for file in kept
        }

    def reports(self) -> dict[str, bytes]:
        kept = self.artifacts()
        named: Mapping[str, str] = job()["artifacts"]["reports"]
        return {kind: kept[path] for kind, path in named.items() if path in kept}

    def _run(self, script: str, more: Mapping[str, str]) -> int:
        programs = os.pathsep.join((str(Path(sys.prefix, "bin")), os.defpath))
        # A file, since what a killed process has started may keep a pipe open.
        said = self.folder / f"log-{len(self._scripts)}"
        with (
            said.open("w") as output,
            subprocess.Popen(
                # More follows, so that the shell stays the parent of what it runs.
                [*_SHELL, f"{script}\nexit 0"],
                cwd=self.workspace,
                env={
                    **template_variables(),
                    "HOME": str(self.folder),
                    **self.variables,
                    "PATH": programs,
                    **more,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process,
        ):
            self._scripts.append(process)
            code = process.wait()
        self.log += said.read_text("utf-8")
        return code
