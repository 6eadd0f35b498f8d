"""Make the orders of the run out of the inputs of the Action."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.result_schema import read_schema
from patchwright.core.errors import SettingsError
from patchwright.core.settings.repository import DeliveryMode
from patchwright.core.settings.repository_types import (
    BodyTemplate,
    Branch,
    BranchTemplate,
    Line,
    Reviewer,
    Template,
)
from patchwright.workers.action.inputs import Inputs, wrong_input
from patchwright.workers.action.texts import file_input_of, read_text
from patchwright.workers.run.orders import RunOverrides

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
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise wrong_input(name, said) from error


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
