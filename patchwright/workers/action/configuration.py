"""Make the settings and the overrides of the run out of the inputs of the Action."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.results import read_schema
from patchwright.core.ci.inputs import (
    Inputs,
    file_input_of,
    read_text,
    wrong_input,
)
from patchwright.core.ci.system import CiJob
from patchwright.core.plugin import ForgeConnection
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.settings.model import Settings, ValueForm, find_key
from patchwright.core.settings.names import COMMON_NAMES
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
from patchwright.integrations.registry import (
    PLUGINS,
    Plugins,
    find_forge,
    list_forges,
)
from patchwright.integrations.settings import ALL_SETTINGS, load_settings
from patchwright.resolver.messages.readers import Reader
from patchwright.resolver.services import RunOverrides
from patchwright.workers.plugins.connections import connect_forge

# Returns the value of a field of `RepositoryConfig` from the input of that name.
Read = Callable[[Inputs, str], object]
_SCHEMA_INPUT: Final = "output-schema"
_TYPES: Final[Mapping[str, TypeAdapter[Any]]] = {
    "base": TypeAdapter(Branch),
    "branch": TypeAdapter(BranchTemplate),
    "title": TypeAdapter(Template),
    "body": TypeAdapter(BodyTemplate),
    "reviewers": TypeAdapter(tuple[Reviewer, ...]),
    "labels": TypeAdapter(tuple[Line, ...]),
    "protected-paths": TypeAdapter(tuple[Line, ...]),
}


def make_run_overrides(
    inputs: Inputs, workspace: Path, patch_place: str = ""
) -> RunOverrides:
    """Return them; raises `SettingsError` for what a template or a file may not be.

    `patch_place` says where a change is. An input that says what it says by itself is
    no order: what the repository says for itself counts then.
    """
    config = {
        key: read(inputs, _INPUTS_OF_KEYS[key])
        for key, read in _CONFIG_INPUTS.items()
        if inputs.is_chosen(_INPUTS_OF_KEYS[key])
    }
    if inputs.text("mode") == "answer":
        config["deliver"] = DeliveryMode.NONE
    return RunOverrides(
        work_at=patch_place,
        config=config,
        defaults={"deliver": DeliveryMode.DRAFT},
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


# The keys of `.patchwright.toml` that inputs override, and how each is read.
_CONFIG_INPUTS: Final[Mapping[str, Read]] = {
    "image": _text_value,
    "setup": _script_value,
    "test": Inputs.lines,
    "base": _text_value,
    "branch": _text_value,
    "title": _text_value,
    "body": _text_value,
    "deliver": _delivery_value,
    "reviewers": _list_value,
    "labels": _list_value,
    "assign_requester": Inputs.is_true,
    "protected_paths": _list_value,
    "network": _text_value,
    "allow_domains": _list_value,
    "plan_approval": _text_value,
    "evidence": _text_value,
    "on_setup_failure": _text_value,
    "context_from": _text_value,
    "instructions": _list_value,
    "co_author": _text_value,
    "progress_comment": Inputs.is_true,
}


_HOMES: Final = frozenset({"HOME", "XDG_CONFIG_HOME"})
_FOUND_IN_FLAGS: Final = ", found in the command line"
# The input of each key of `.patchwright.toml`, and of each setting.
_INPUTS_OF_KEYS: Final = {one.repository: one.action for one in COMMON_NAMES}
_INPUTS_OF_SETTINGS: Final = {
    one.setting: one.action for one in COMMON_NAMES if one.setting and one.action
}
# The table has those of one forge; the others have the same ones, each in a section of
# its own.
_FORGES: Final = frozenset(one.name for one in list_forges())
# What is not one value or one list, or is set in any case.
_READ_APART: Final = ("llm.fallbacks", "mcp.servers", "sandbox.network")


def plugins_of(service: str) -> Plugins:
    """Return all plug-ins but those of other forges.

    A variable of a group may configure a second forge; a job works where it runs.
    """
    return tuple(one for one in PLUGINS if one.name == service or not one.connect_forge)


@contextmanager
def connect(service: str, settings: Settings) -> Iterator[ForgeConnection]:
    """Connect where no database is open; what is learnt is kept in memory."""
    plugin = find_forge(settings, plugins_of(service))
    with closing(
        connect_forge(plugin, settings, MemoryVault(), SystemClock())
    ) as connected:
        yield connected


def find_settings(job: CiJob, inputs: Inputs, environ: Mapping[str, str]) -> Settings:
    """Return the settings; servers of tools may be named in a file of the repository.

    That is read from the default branch, whatever is checked out.
    """
    given = inputs.text("mcp-config")
    if not given or given.startswith("{"):
        return make_settings(job.service, inputs, environ, job.folder, given)
    first = make_settings(job.service, inputs, environ, job.folder)
    with connect(job.service, first) as forge:
        found = forge.forge.fetch_file(job.repo, given)
    if found is None:
        raise wrong_input(
            "mcp-config",
            f"the default branch has no file {given}; write its path, or the JSON "
            "itself",
        )
    text = found.decode("utf-8", "replace")
    return make_settings(job.service, inputs, environ, job.folder, text)


def make_settings(
    service: str,
    inputs: Inputs,
    environ: Mapping[str, str],
    folder: Path,
    mcp_servers: str = "",
) -> Settings:
    """Return the settings; raises `SettingsError`, which names the inputs.

    What no input says comes from the environment, but never from a file of the
    workspace: that may be somebody's pull request.
    """
    flags: dict[str, object] = {"state_dir": str(folder / "state")}
    flags["database.url"] = f"sqlite:///{folder / 'state' / 'patchwright.db'}"
    known = _inputs_of_settings(service, inputs)
    flags |= {
        key: _given_value(inputs, key, name)
        for key, name in known.items()
        if key not in _READ_APART
    }
    flags |= _fallbacks(inputs)
    flags["sandbox.network"] = inputs.text("network")
    flags["security.repositories_may_widen"] = _rules_of_repository(inputs)
    if mcp_servers:
        flags["mcp.servers"] = mcp_servers
    # A folder that outlasts a job may have files of anybody's job in it.
    rest = {name: text for name, text in environ.items() if name not in _HOMES}
    try:
        return load_settings(rest, flags=flags, cwd=folder)
    except SettingsError as error:
        raise SettingsError(_name_inputs(str(error), known)) from error


def _inputs_of_settings(service: str, inputs: Inputs) -> dict[str, str]:
    """Return the input of each setting that the CI of a service has."""
    own = {
        _setting_at(service, key): name
        for key, name in _INPUTS_OF_SETTINGS.items()
        if name in inputs.table
    }
    return {
        key: name
        for key, name in own.items()
        if find_key(ALL_SETTINGS, tuple(key.split("."))) is not None
    }


def _setting_at(service: str, key: str) -> str:
    section, dot, name = key.partition(".")
    return f"{service}{dot}{name}" if section in _FORGES else key


def _given_value(inputs: Inputs, key: str, name: str) -> object:
    """Return what an input says, None where it says nothing."""
    found = find_key(ALL_SETTINGS, tuple(key.split(".")))
    is_list = found is not None and found.form is ValueForm.JSON
    return (inputs.listed(name) if is_list else inputs.text(name)) or None


def _rules_of_repository(inputs: Inputs) -> tuple[str, ...]:
    """Return the rules of which the workflow says nothing.

    Workflow and rules are files of the same branch of the same repository: they are
    written by the same people, and nobody else runs a service whose rules they widen.
    """
    rules = ("min_permission", "allow_users", "allow_bots")
    return tuple(rule for rule in rules if not inputs.is_chosen(_INPUTS_OF_KEYS[rule]))


def _fallbacks(inputs: Inputs) -> dict[str, object]:
    """Name the models to fall back on, as any other of ours: by a number."""
    models = inputs.listed("llm-fallback-models")
    names = tuple(f"fallback{number}" for number in range(1, len(models) + 1))
    named: dict[str, object] = {"llm.fallbacks": names} if names else {}
    for name, model in zip(names, models, strict=True):
        named[f"llm.{name}.model"] = model
        named[f"llm.{name}.api_version"] = inputs.text("llm-api-version") or None
    return named


def _name_inputs(problems: str, known: Mapping[str, str]) -> str:
    return "\n".join(_name_input(one, known) for one in problems.splitlines())


def _name_input(problem: str, known: Mapping[str, str]) -> str:
    key, colon, rest = problem.partition(":")
    name = next((known[one] for one in known if key.startswith(one)), "")
    if not name or _FOUND_IN_FLAGS not in rest:
        return problem
    return f"input `{name}`{colon}{rest.replace(_FOUND_IN_FLAGS, '')}"
