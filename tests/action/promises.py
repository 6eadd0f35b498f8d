"""What holds however a run of the Action ends."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.architecture.tree import ROOT
from tests.flow.text import steady
from tests.runner.action import read_action
from tests.runner.composite import Result
from tests.runner.job import Job

FILES: Final = ("evidence-file", "patch-file", "trajectory-file", "receipt-file")
COUNTS: Final = (
    "tokens-in",
    "tokens-out",
    "iterations",
    "duration-seconds",
    "removed-content-count",
    "blocked-requests-count",
)
SHAS: Final = ("base-sha", "head-sha")


def hold(job: Job, result: Result, secrets: tuple[str, ...]) -> None:
    """Fail where an output is not as promised, or a secret has come out."""
    outputs = result.outputs
    assert outputs.keys() == read_action(ROOT).outputs.keys()
    assert outputs["outcome"] in set(OutcomeKind), job.log.text
    assert job.summary.strip()
    for name in FILES:
        assert not outputs[name] or Path(outputs[name]).is_file(), name
    for name in COUNTS:
        assert re.fullmatch(r"\d*", outputs[name]), name
    for name in SHAS:
        assert re.fullmatch(r"([0-9a-f]{40})?", outputs[name]), name
    for secret in secrets:
        assert [where for where, text in _shown(job, result) if secret in text] == []


def _shown(job: Job, result: Result) -> Iterator[tuple[str, str]]:
    """Yield all that people can see, as it was before the runner masked it."""
    yield from result.outputs.items()
    yield "log", job.log.text
    yield "summary", "\n".join(job.summaries)
    for files in job.artifacts.kept.values():
        yield from ((name, one.decode(errors="replace")) for name, one in files.items())


def steady_summary(job: Job) -> str:
    """Return the summary with fixed words for what differs from run to run."""
    text = job.summary.replace(str(job.machine.temp), "TEMP")
    text = re.sub(r"\b[0-9a-f]{40}\b", "SHA", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "RUN", text)
    text = re.sub(r"patchwright-\w{8}/", "patchwright-KEY/", text)
    text = re.sub(r"(`duration-seconds` \| )`\d+`", r"\1`N`", text)
    return steady(text)
