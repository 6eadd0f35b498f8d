"""Make the settings and the overrides of the run out of the inputs of the Action."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.results import read_schema
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import DeliveryMode
from patchwright.core.settings.repository_file import (
    BodyTemplate,
    Branch,
    BranchTemplate,
    Line,
    Reviewer,
    Template,
)
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.configured import connect_github
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.webhooks.triggers import SERVICE
from patchwright.integrations.settings import load_settings
from patchwright.resolver.messages.readers import Reader
from patchwright.resolver.services import RunOverrides
from patchwright.workers.action.inputs import (
    Inputs,
    file_input_of,
    read_text,
    wrong_input,
)
from patchwright.workers.action.workflow import WorkflowJob

# Returns the value of a field of `RepositoryConfig` from the input of that name.
Read = Callable[[Inputs, str], object]
_SCHEMA_INPUT: Final = "output-schema"
_TYPES: Final[Mapping[str, TypeAdapter[Any]]] = {
    "target-branch": TypeAdapter(Branch),
    "branch-template": TypeAdapter(BranchTemplate),
    "pr-title-template": TypeAdapter(Template),
    "pr-body-template": TypeAdapter(BodyTemplate),
    "reviewers": TypeAdapter(tuple[Reviewer, ...]),
    "labels": TypeAdapter(tuple[Line, ...]),
    "protected-paths": TypeAdapter(tuple[Line, ...]),
}
_IN_ARTIFACT: Final = "It is `change.patch` in the artifact of the workflow run."
_ON_RUNNER: Final = (
    "It is in the file that the step's output `patch-file` names, for later steps of "
    "this job: `upload-artifacts` is off."
)


def make_run_overrides(inputs: Inputs, workspace: Path) -> RunOverrides:
    """Return them; raises `SettingsError` for what a template or a file may not be.

    An input that says what it says by itself is no order: what the repository says for
    itself counts then.
    """
    config = {
        field: read(inputs, name)
        for field, (name, read) in _CONFIG_INPUTS.items()
        if inputs.is_chosen(name)
    }
    if inputs.text("mode") == "answer":
        config["pr"] = DeliveryMode.NONE
    return RunOverrides(
        work_at=_IN_ARTIFACT if inputs.is_true("upload-artifacts") else _ON_RUNNER,
        config=config,
        defaults={
            "pr": DeliveryMode.DRAFT,
            "context_from": inputs.text("context-from"),
        },
        config_file=inputs.text("config-path"),
        is_dry_run=inputs.is_true("dry-run"),
        schema=_read_schema(inputs, workspace),
        waits_for_people=False,
        reader=Reader.OPERATOR,
    )


def _read_schema(inputs: Inputs, workspace: Path) -> str:
    """Return the text of the schema; one that is none costs no run."""
    text = read_text(inputs, _SCHEMA_INPUT, workspace)
    try:
        if text:
            read_schema(text)
    except SettingsError as error:
        in_file = file_input_of(_SCHEMA_INPUT)
        name = in_file if inputs.text(in_file) else _SCHEMA_INPUT
        raise wrong_input(name, str(error)) from error
    return text


def _text_value(inputs: Inputs, name: str) -> object:
    return _checked(name, inputs.text(name))


def _list_value(inputs: Inputs, name: str) -> object:
    return _checked(name, inputs.listed(name))


def _checked(name: str, value: object) -> object:
    form = _TYPES.get(name)
    try:
        return form.validate_python(value) if form else value
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise wrong_input(name, message) from error


def _script_value(inputs: Inputs, name: str) -> tuple[str]:
    return (inputs.text(name),)


def _delivery_value(inputs: Inputs, name: str) -> DeliveryMode:
    return DeliveryMode(inputs.text(name))


_CONFIG_INPUTS: Final[Mapping[str, tuple[str, Read]]] = {
    "image": ("sandbox-image", _text_value),
    "setup": ("setup-script", _script_value),
    "test": ("test-command", Inputs.lines),
    "base": ("target-branch", _text_value),
    "branch": ("branch-template", _text_value),
    "title": ("pr-title-template", _text_value),
    "body": ("pr-body-template", _text_value),
    "pr": ("pr-type", _delivery_value),
    "reviewers": ("reviewers", _list_value),
    "labels": ("labels", _list_value),
    "assign_requester": ("assign-requester", Inputs.is_true),
    "protected_paths": ("protected-paths", _list_value),
    "network": ("network", _text_value),
    "allow_domains": ("allow-domains", _list_value),
    "plan_approval": ("plan-approval", _text_value),
    "evidence": ("evidence", _text_value),
    "on_setup_failure": ("on-setup-failure", _text_value),
    "context_from": ("context-from", _text_value),
    "instructions": ("instructions-files", _list_value),
    "co_author": ("co-author", _text_value),
    "progress_comment": ("progress-comment", Inputs.is_true),
}


_FOUND_IN_FLAGS: Final = ", found in the command line"
# Each setting that an input says as it stands.
_TEXT_INPUTS: Final[Mapping[str, str]] = {
    "github.token": "github-token",
    "github.api_url": "github-api-url",
    "github.web_url": "github-server-url",
    "github.mention": "trigger-phrase",
    "github.label": "trigger-label",
    "github.commit_signing": "commit-signing",
    "llm.model": "llm-model",
    "llm.base_url": "llm-base-url",
    "llm.api_version": "llm-api-version",
    "llm.reasoning_effort": "reasoning-effort",
    "limits.max_cost_usd": "max-cost-usd",
    "limits.max_iterations": "max-iterations",
    "limits.max_minutes": "timeout-minutes",
    "limits.unknown_price": "unknown-price",
    "security.min_permission": "min-permission",
    "sandbox.image": "sandbox-image",
}
_LIST_INPUTS: Final[Mapping[str, str]] = {
    "security.allow_users": "allow-users",
    "security.allow_bots": "allow-bot-users",
    "sandbox.allow_domains": "allow-domains",
}


def find_settings(
    workflow_job: WorkflowJob, inputs: Inputs, environ: Mapping[str, str]
) -> Settings:
    """Return the settings; servers of tools may be named in a file of the repository.

    That is read from the default branch, whatever is checked out.
    """
    given = inputs.text("mcp-config")
    if not given or given.startswith("{"):
        return make_settings(inputs, environ, workflow_job.folder, given)
    first = make_settings(inputs, environ, workflow_job.folder)
    found = _fetch_file(first, workflow_job.repository, given)
    if found is None:
        raise wrong_input(
            "mcp-config",
            f"the default branch has no file {given}; write its path, or the JSON "
            "itself",
        )
    text = found.decode("utf-8", "replace")
    return make_settings(inputs, environ, workflow_job.folder, text)


def _fetch_file(settings: Settings, repository: str, path: str) -> bytes | None:
    repo = RepoRef(forge=SERVICE, full_name=repository)
    github = connect_github(
        GitHubSettings.of(settings), MemoryTokenCache(), SystemClock()
    )
    try:
        return github.forge.fetch_file(repo, path)
    finally:
        github.close()


def make_settings(
    inputs: Inputs, environ: Mapping[str, str], folder: Path, mcp_servers: str = ""
) -> Settings:
    """Return the settings; raises `SettingsError`, which names the inputs.

    What no input says comes from the environment, but never from a file of the
    workspace: that may be somebody's pull request.
    """
    flags: dict[str, object] = {"state_dir": str(folder / "state")}
    flags["database.url"] = f"sqlite:///{folder / 'state' / 'patchwright.db'}"
    flags |= {key: inputs.text(name) or None for key, name in _TEXT_INPUTS.items()}
    flags |= {key: inputs.listed(name) or None for key, name in _LIST_INPUTS.items()}
    flags |= _fallbacks(inputs)
    flags["sandbox.network"] = inputs.text("network")
    flags["security.repositories_may_widen"] = _rules_of_repository(inputs)
    if mcp_servers:
        flags["mcp.servers"] = mcp_servers
    try:
        return load_settings(environ, flags=flags, cwd=folder)
    except SettingsError as error:
        raise SettingsError(_name_inputs(str(error))) from error


def _rules_of_repository(inputs: Inputs) -> tuple[str, ...]:
    """Return the rules of which the workflow says nothing.

    Workflow and rules are files of the same branch of the same repository: they are
    written by the same people, and nobody else runs a service whose rules they widen.
    """
    inputs_of = {**_TEXT_INPUTS, **_LIST_INPUTS}
    rules = ("min_permission", "allow_users", "allow_bots")
    return tuple(
        rule for rule in rules if not inputs.is_chosen(inputs_of[f"security.{rule}"])
    )


def _fallbacks(inputs: Inputs) -> dict[str, object]:
    """Name the models to fall back on, as any other of ours: by a number."""
    models = inputs.listed("llm-fallback-models")
    names = tuple(f"fallback{number}" for number in range(1, len(models) + 1))
    named: dict[str, object] = {"llm.fallbacks": names} if names else {}
    for name, model in zip(names, models, strict=True):
        named[f"llm.{name}.model"] = model
        named[f"llm.{name}.api_version"] = inputs.text("llm-api-version") or None
    return named


def _name_inputs(problems: str) -> str:
    return "\n".join(map(_name_input, problems.splitlines()))


def _name_input(problem: str) -> str:
    key, colon, rest = problem.partition(":")
    known = {**_TEXT_INPUTS, **_LIST_INPUTS, "mcp.servers": "mcp-config"}
    name = next((known[one] for one in known if key.startswith(one)), "")
    if not name or _FOUND_IN_FLAGS not in rest:
        return problem
    return f"input `{name}`{colon}{rest.replace(_FOUND_IN_FLAGS, '')}"
