"""Make the orders of the run out of the inputs of the Action."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.result_schema import read_schema
from patchwright.core.errors import SettingsError
from patchwright.core.settings.repository import Delivery
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
from patchwright.workers.run.orders import Orders

# Returns the value of a field of `RepositoryConfig` from the input of that name.
Read = Callable[[Inputs, str], object]
_SCHEMA: Final = "output-schema"
_FORMS: Final[Mapping[str, TypeAdapter[Any]]] = {
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


def make_orders(inputs: Inputs, workspace: Path) -> Orders:
    """Return them; raises `SettingsError` for what a template or a file may not be.

    An input that says what it says by itself is no order: what the repository says for
    itself counts then.
    """
    config = {
        field: read(inputs, name)
        for field, (name, read) in _WISHES.items()
        if inputs.is_chosen(name)
    }
    if inputs.text("mode") == "answer":
        config["pr"] = Delivery.NONE
    return Orders(
        work_at=_IN_ARTIFACT if inputs.is_true("upload-artifacts") else _ON_RUNNER,
        config=config,
        defaults={
            "pr": Delivery.DRAFT,
            "context_from": inputs.text("context-from"),
        },
        config_file=inputs.text("config-path"),
        rehearses=inputs.is_true("dry-run"),
        schema=_read_schema(inputs, workspace),
        waits_for_people=False,
    )


def _read_schema(inputs: Inputs, workspace: Path) -> str:
    """Return the text of the schema; one that is none costs no run."""
    text = read_text(inputs, _SCHEMA, workspace)
    try:
        if text:
            read_schema(text)
    except SettingsError as error:
        in_file = file_input_of(_SCHEMA)
        name = in_file if inputs.text(in_file) else _SCHEMA
        raise wrong_input(name, str(error)) from error
    return text


def _text(inputs: Inputs, name: str) -> object:
    return _checked(name, inputs.text(name))


def _list(inputs: Inputs, name: str) -> object:
    return _checked(name, inputs.listed(name))


def _checked(name: str, value: object) -> object:
    form = _FORMS.get(name)
    try:
        return form.validate_python(value) if form else value
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise wrong_input(name, said) from error


def _script(inputs: Inputs, name: str) -> tuple[str]:
    return (inputs.text(name),)


def _delivery(inputs: Inputs, name: str) -> Delivery:
    return Delivery(inputs.text(name))


_WISHES: Final[Mapping[str, tuple[str, Read]]] = {
    "image": ("sandbox-image", _text),
    "setup": ("setup-script", _script),
    "test": ("test-command", Inputs.lines),
    "base": ("target-branch", _text),
    "branch": ("branch-template", _text),
    "title": ("pr-title-template", _text),
    "body": ("pr-body-template", _text),
    "pr": ("pr-type", _delivery),
    "reviewers": ("reviewers", _list),
    "labels": ("labels", _list),
    "assign_requester": ("assign-requester", Inputs.is_true),
    "protected_paths": ("protected-paths", _list),
    "network": ("network", _text),
    "allow_domains": ("allow-domains", _list),
    "plan_approval": ("plan-approval", _text),
    "evidence": ("evidence", _text),
    "on_setup_failure": ("on-setup-failure", _text),
    "context_from": ("context-from", _text),
    "instructions": ("instructions-files", _list),
    "co_author": ("co-author", _text),
    "progress_comment": ("progress-comment", Inputs.is_true),
}
