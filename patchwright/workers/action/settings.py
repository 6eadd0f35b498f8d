"""Make the settings of the run out of the inputs of the Action."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from patchwright.core.clock import SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.settings.load import load_settings
from patchwright.core.settings.model import Settings
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.webhook import SERVICE
from patchwright.workers.action.inputs import Inputs, wrong_input
from patchwright.workers.action.place import WorkflowJob
from patchwright.workers.connections import connect_github

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


def find_settings(workflow_job: WorkflowJob, inputs: Inputs, environ: Mapping[str, str]) -> Settings:
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
    github = connect_github(settings.github, MemoryTokenCache(), SystemClock())
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
