"""The workflow job: what the runner tells about it, its inputs, and its `if:`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import yaml

from patchwright.core.ci.inputs import (
    COMMON_INPUTS,
    REFERENCE,
    YES_NO,
    Input,
    Inputs,
    checked,
    find_both_given,
    is_required,
    one_of,
)
from patchwright.core.ci.system import CiJob, read_event
from patchwright.core.settings.names import FORMER_NAMES, UNTIL, Place
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github.webhooks.triggers import SERVICE

# A text of somebody's, held against a word that stands in the workflow itself.
_PHRASE_CONDITION: Final = re.compile(
    r"\b(?:contains|startsWith)\(\s*[^()]*\.body\b[^(),]*,\s*'((?:[^']|'')*)'\s*\)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class WorkflowCheck:
    """The phrases in the conditions of a workflow, and the phrase of the Action."""

    workflow_phrases: tuple[str, ...]
    phrase: str

    @property
    def is_sound(self) -> bool:
        """Tell whether a text with the phrase gets through, as far as can be read.

        A workflow without phrases lets everything through, or has them elsewhere.
        """
        phrase = self.phrase.lower()
        return not self.workflow_phrases or any(
            one.lower() in phrase for one in self.workflow_phrases
        )

    def __str__(self) -> str:
        shown = ", ".join(f"`{one}`" for one in self.workflow_phrases) or "no phrase"
        text = f"the workflow's `if:` asks for {shown}, the Action for `{self.phrase}`"
        if self.is_sound:
            return text
        return (
            f"{text}: no comment has both, so the bot never answers. Write the same "
            "phrase in both: the input `mention`, and the `if:` of the "
            "workflow."
        )


def check_workflow(workflow: str, phrase: str) -> WorkflowCheck:
    """Read the phrases in the conditions of a workflow; what is no YAML has none."""
    try:
        document = yaml.safe_load(workflow)
    except yaml.YAMLError:
        return WorkflowCheck((), phrase)
    conditions = _conditions(document)
    found = [
        one.replace("''", "'")
        for if_ in conditions
        for one in _PHRASE_CONDITION.findall(if_)
    ]
    return WorkflowCheck(tuple(dict.fromkeys(found)), phrase)


def find_workflow(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return path and commit of the workflow that runs; None where nothing says.

    https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    """
    path, _, ref = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")
    own = f"{environ.get('GITHUB_REPOSITORY')}/"
    if not ref or not path.startswith(own):
        return None
    return path.removeprefix(own), environ.get("GITHUB_WORKFLOW_SHA") or ref


def _conditions(document: Any) -> Iterator[str]:  # noqa: ANN401 - YAML as it comes
    jobs = document.get("jobs") if isinstance(document, dict) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        if not isinstance(job, dict):
            continue
        steps = job.get("steps")
        for part in (job, *(steps if isinstance(steps, list) else ())):
            if isinstance(part, dict) and "if" in part:
                yield str(part["if"])


PREFIX: Final = "PATCHWRIGHT_ACTION_"
# https://docs.github.com/en/actions/reference/workflows-and-actions/variables
_NEEDED_VARIABLES: Final = (
    "GITHUB_EVENT_NAME",
    "GITHUB_EVENT_PATH",
    "GITHUB_REPOSITORY",
)


@dataclass(frozen=True)
class WorkflowJob(CiJob):
    """A job of a workflow.

    `workflow` is the path and commit of its file. With `has_job_token` we are the
    workflow itself on GitHub.
    """

    has_job_token: bool = False
    workflow: tuple[str, str] | None = None


def read_workflow_job(environ: Mapping[str, str]) -> WorkflowJob:
    """Read it from the environment; raises `SettingsError` outside of a workflow."""
    names = (*_NEEDED_VARIABLES, f"{PREFIX}FOLDER", f"{PREFIX}INPUTS")
    if missing := [name for name in names if not environ.get(name)]:
        raise SettingsError(
            f"{', '.join(missing)}: not set; `patchwright action run` is a step of "
            "the GitHub Action (action.yml) and works only in a workflow. On this "
            "machine, use `patchwright resolve`."
        )
    body, event = read_event("GITHUB_EVENT_PATH", Path(environ["GITHUB_EVENT_PATH"]))
    folder, run_url = Path(environ[f"{PREFIX}FOLDER"]), _run_url(environ)
    return WorkflowJob(
        service=SERVICE,
        folder=folder,
        artifacts=folder / "artifacts",
        workspace=Path(environ.get("GITHUB_WORKSPACE") or "."),
        repository=environ["GITHUB_REPOSITORY"],
        event_name=environ["GITHUB_EVENT_NAME"],
        event=event,
        event_bytes=body,
        actor=environ.get("GITHUB_ACTOR", ""),
        actor_id=environ.get("GITHUB_ACTOR_ID", ""),
        rerun_by=environ.get("GITHUB_TRIGGERING_ACTOR", ""),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        run_attempt=environ.get("GITHUB_RUN_ATTEMPT", "1"),
        run_url=run_url,
        runs_url=run_url.rpartition("/runs/")[0],
        actor_variable="GITHUB_ACTOR",
        is_bot=lambda login: login.endswith("[bot]"),
        has_job_token=environ.get(f"{PREFIX}HAS_JOB_TOKEN") == "true",
        workflow=find_workflow(environ),
    )


def settings_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the settings are read from; what is ours alone is none of them."""
    return {k: v for k, v in environ.items() if not k.startswith(PREFIX)}


def _run_url(environ: Mapping[str, str]) -> str:
    server, run = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_RUN_ID")
    if not server or not run:
        return ""
    return f"{server}/{environ['GITHUB_REPOSITORY']}/actions/runs/{run}"


GITHUB_INPUTS: Final[Mapping[str, Input]] = {
    **COMMON_INPUTS,
    "comment-id": Input(check=REFERENCE),
    "assignee": Input(),
    "github-token": Input(check=is_required, is_secret=True),
    "github-api-url": Input(),
    "github-server-url": Input(),
    "commit-signing": Input("auto", one_of("auto", "api", "ssh", "none")),
    "upload-artifacts": Input("true", one_of(*YES_NO)),
    "version": Input(),
}
_EXCLUSIVE_PAIRS: Final = (("task", "comment-id"), ("task-file", "comment-id"))


def read_inputs(text: str) -> Inputs:
    """Read them as `toJSON(inputs)` writes them; raises `SettingsError`, all at once.

    An empty text is one that GitHub did not send: the step is not run by a workflow.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise SettingsError(
            "PATCHWRIGHT_ACTION_INPUTS: not a JSON object; action.yml sets it to "
            "the inputs of the Action"
        )
    inputs, problems = _by_new_names({name: str(one) for name, one in given.items()})
    problems += find_both_given(inputs, _EXCLUSIVE_PAIRS)
    problems += _version_problems(inputs.text("version"))
    return checked(inputs, problems)


def _by_new_names(given: Mapping[str, str]) -> tuple[Inputs, list[str]]:
    """Return the inputs by their names of today, and what was given by both names."""
    values, notices, twice = dict(given), [], []
    for old, name in FORMER_NAMES[Place.ACTION].items():
        text = values.pop(old, "")
        if not text.strip():
            continue
        if Inputs(given, GITHUB_INPUTS).is_chosen(name):
            twice.append(
                f"inputs `{old}` and `{name}` are the same input; keep `{name}`"
            )
        values[name] = text
        notices.append(f"input `{old}` is now `{name}`; {UNTIL}.")
    return Inputs(values, GITHUB_INPUTS, tuple(notices)), twice


def _version_problems(wanted: str) -> list[str]:
    """Return what to say if another version is wanted than this one."""
    own = version("patchwright")
    if wanted.removeprefix("v") in ("", own):
        return []
    text = (
        f"input `version` is {wanted}, but this action is {own}, and never downloads "
        f"another version; pin the action: uses: OWNER/REPOSITORY@v{wanted.lstrip('v')}"
    )
    return [text]
