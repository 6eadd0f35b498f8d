"""What a CI offers to a job of ours, whichever CI it is.

A service brings its own as `Plugin.ci`. The job asks it where it runs, what it is asked
for, and what to call things.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.result import Result
from patchwright.core.plugin import ForgeConnection
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    ThreadPost,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger

# So providers of models, clouds and the runner name what nobody else may know.
_SECRET_NAME: Final = re.compile(
    r"_(?:API_KEY|ACCESS_KEY|PASSWORD|SECRET|TOKEN)\Z", re.IGNORECASE
)
# What is shorter may be a word, and would be blotted out everywhere.
_LEAST_SECRET_CHARS: Final = 12
_MAX_EVENT_BYTES: Final = 30_000_000


@dataclass(frozen=True)
class CiJob:
    """Where we run.

    `service` is the plug-in of the forge whose CI it is. `folder` is ours alone, and
    `artifacts` the part of it that is kept. `event` is the delivery that started the
    run, empty where there is none, `actor` who started it, and `rerun_by` who had it
    run again. `junit_file` is where the CI looks for the results of tests, if it does.
    `is_bot` tells by a login whether it is a bot's.
    """

    service: str
    folder: Path
    artifacts: Path
    workspace: Path
    repository: str
    event_name: str
    event: Mapping[str, Any]
    event_bytes: bytes
    actor: str
    actor_id: str
    rerun_by: str
    run_id: str
    run_attempt: str
    run_url: str
    runs_url: str
    actor_variable: str
    is_bot: Callable[[str], bool]
    junit_file: Path | None = None

    @property
    def result(self) -> Path:
        return self.folder / "result.json"

    @property
    def repo(self) -> RepoRef:
        return RepoRef(forge=self.service, full_name=self.repository)


@dataclass(frozen=True)
class CiWords:
    """What people call things there: nouns, and sentences where they differ.

    `run` is what somebody starts and may cancel. `known_by` says how we know our own
    comments, and `read_only` why a comment could not be written.
    """

    run: str
    known_by: str
    read_only: str


@dataclass(frozen=True)
class ActionRequest:
    """Somebody asks for something; `task` is its text where there is no thread."""

    trigger: Trigger
    task: str = ""


@dataclass(frozen=True)
class NoTrigger:
    """The event asks for nothing; `reason` is the reader's short code."""

    reason: str


class JobRequests(Protocol):
    """What one job is asked for, at a forge that is connected.

    `connection` is the one that the run uses, which may differ from the one that it was
    opened with.
    """

    @property
    def connection(self) -> ForgeConnection: ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return sentences about former names that still work."""
        ...

    def find(self, task: str) -> ActionRequest | NoTrigger:
        """Return what is asked, `task` being the text of the inputs.

        Raises `SettingsError`, `PayloadError`, or a `ServiceError`.
        """
        ...

    def refuse(self, reason: str) -> Result:
        """Return the result of a job that is asked for nothing."""
        ...

    def own_text(self, thread: ThreadRef, post: ThreadPost) -> str | None:
        """Return what we have written in a post, None if we have not."""
        ...

    def post_url(self, thread: ForgeThread, post_id: str) -> str:
        """Return where people see a post of ours; may raise a `ServiceError`."""
        ...

    def fetch_head(self, repo: RepoRef, branch: str) -> str:
        """Return the newest commit of a branch, empty where nobody knows."""
        ...


class CiSystem(Protocol):
    """A CI: how it tells a job what to do, and how it is told the result."""

    @property
    def words(self) -> CiWords: ...

    def read_job(self, environ: Mapping[str, str]) -> CiJob:
        """Read where we run; raises `SettingsError` outside of a job."""
        ...

    def read_inputs(self, job: CiJob, environ: Mapping[str, str]) -> Inputs:
        """Return the inputs, all checked; `PatchwrightError` for what cannot be."""
        ...

    def settings_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return what the settings are read from; what only a job has is left out."""
        ...

    def open_requests(
        self,
        connection: ForgeConnection,
        settings: Settings,
        job: CiJob,
        inputs: Inputs,
        environ: Mapping[str, str],
    ) -> JobRequests: ...

    def patch_place(self, inputs: Inputs) -> str:
        """Say where a change is that was not pushed."""
        ...

    def find_pull_number(self, job: CiJob, inputs: Inputs) -> int:
        """Return the pull request to prove; `SettingsError` where none is meant."""
        ...

    def pull_post_url(self, pull: PullRequest, post_id: str) -> str: ...

    def quoted_log(self) -> AbstractContextManager[None]:
        """Show what is logged inside as lines alone, and folded if that is possible."""
        ...

    def conclude(self, environ: Mapping[str, str]) -> int:
        """Tell the CI the result; return the exit code of the process."""
        ...

    def begin(self, environ: Mapping[str, str]) -> None:
        """Remove what an earlier job has left in the place of this one."""
        del environ

    def close(self, environ: Mapping[str, str]) -> None:
        """Tell what a killed run could not, and leave nothing but the artifacts."""
        del environ


def read_event(variable: str, path: Path) -> tuple[bytes, Mapping[str, Any]]:
    """Return the delivery in the file that a variable names, as bytes and as JSON."""
    try:
        with path.open("rb") as file:
            body = file.read(_MAX_EVENT_BYTES)
        event = json.loads(body)
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{variable}: {path} cannot be read as JSON: {error}"
        ) from error
    return body, event if isinstance(event, dict) else {}


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return what variables hold that are named like secrets, settings of ours or not.

    The library for models finds the keys of many providers there by itself.
    """
    named = (text for name, text in environ.items() if _SECRET_NAME.search(name))
    return tuple(text for text in named if len(text) >= _LEAST_SECRET_CHARS)
