"""The runs of the command line, each in a file of the state folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.errors import PatchwrightError
from patchwright.core.trajectory.files import StoredRun, read_run
from patchwright.workers.runs.listed import RunRow, row_of_log

_SUFFIX = ".jsonl"


@dataclass(frozen=True)
class LocalRuns:
    """A folder of logs, which are named after their runs."""

    folder: Path

    def ids(self) -> tuple[str, ...]:
        """Return the ids, those first whose log was written to last."""
        written = {one: one.stat().st_mtime for one in self.folder.glob(f"*{_SUFFIX}")}
        newest = sorted(written, key=lambda one: written[one], reverse=True)
        return tuple(one.name.removesuffix(_SUFFIX) for one in newest)

    def read(self, run_id: str) -> StoredRun:
        return read_run(self.folder / f"{run_id}{_SUFFIX}")

    def list_rows(self) -> Iterator[RunRow]:
        """Yield what the logs say; one that says nothing yet is left out."""
        for run_id in self.ids():
            try:
                facts = self.read(run_id).trajectory.run
            except PatchwrightError:
                continue
            yield row_of_log(run_id, facts)
