"""Make the orders of the run out of the inputs of the Action."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from patchwright.core.errors import SettingsError
from patchwright.core.settings.repository import Delivery
from patchwright.core.settings.repository_types import (
    Branch,
    BranchTemplate,
    Line,
    Reviewer,
    Template,
)
from patchwright.workers.action.inputs import Inputs
from patchwright.workers.run.orders import Orders

MOST_FILE_BYTES: Final = 200_000
_Body = Annotated[str, Field(max_length=60_000)]
_FORMS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "target-branch": TypeAdapter(Branch),
    "branch-template": TypeAdapter(BranchTemplate),
    "pr-title-template": TypeAdapter(Template),
    "pr-body-template": TypeAdapter(_Body),
    "reviewers": TypeAdapter(list[Reviewer]),
    "labels": TypeAdapter(list[Line]),
    "protected-paths": TypeAdapter(list[Line]),
}


def make_orders(inputs: Inputs, workspace: Path) -> Orders:
    """Return them; raises `SettingsError` for what a template or a file may not be.

    An input that says what it says by itself is no order: what the repository says for
    itself counts then.
    """
    mode = inputs.text("mode")
    config = {
        field: read(inputs)
        for field, (name, read) in _WISHES.items()
        if inputs.is_chosen(name)
    }
    if mode == "answer":
        config["pr"] = Delivery.NONE
    return Orders(
        config=config,
        unsaid={
            "pr": Delivery.DRAFT,
            "context_from": inputs.text("context-from"),
        },
        config_file=inputs.text("config-path"),
        rehearses=inputs.is_true("dry-run"),
        schema=read_text(inputs, "output-schema", workspace),
        waits_for_people=False,
    )


def read_text(inputs: Inputs, name: str, workspace: Path) -> str:
    """Return a text that is an input, or in the file that `NAME-file` names."""
    named = inputs.text(f"{name}-file")
    if not named:
        return inputs.text(name)
    root = workspace.resolve()
    path = (root / named).resolve()
    if not path.is_relative_to(root):
        raise _wrong(f"{name}-file", f"{named} is not in the workspace")
    try:
        with path.open("rb") as file:
            text = file.read(MOST_FILE_BYTES + 1).decode("utf-8")
    except OSError as error:
        said = f"{named} cannot be read: {error.strerror}; is there a checkout step?"
        raise _wrong(f"{name}-file", said) from error
    except UnicodeDecodeError as error:
        raise _wrong(f"{name}-file", f"{named} is not UTF-8") from error
    if len(text) > MOST_FILE_BYTES:
        most = f"{MOST_FILE_BYTES // 1000} kB"
        raise _wrong(f"{name}-file", f"{named} is larger than {most}")
    if not text.strip():
        raise _wrong(f"{name}-file", f"{named} is empty")
    return text


def _text(name: str) -> Callable[[Inputs], Any]:
    return lambda inputs: _checked(name, inputs.text(name))


def _list(name: str) -> Callable[[Inputs], Any]:
    return lambda inputs: tuple(_checked(name, list(inputs.listed(name))))


def _checked(name: str, value: object) -> Any:  # noqa: ANN401 - of the field's own type
    form = _FORMS.get(name)
    try:
        return form.validate_python(value) if form else value
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise _wrong(name, said) from error


def _wrong(name: str, said: str) -> SettingsError:
    return SettingsError(f"input `{name}`: {said}")


_WISHES: Final[Mapping[str, tuple[str, Callable[[Inputs], Any]]]] = {
    "image": ("sandbox-image", _text("sandbox-image")),
    "setup": ("setup-script", lambda inputs: (inputs.text("setup-script"),)),
    "test": ("test-command", lambda inputs: inputs.lines("test-command")),
    "base": ("target-branch", _text("target-branch")),
    "branch": ("branch-template", _text("branch-template")),
    "title": ("pr-title-template", _text("pr-title-template")),
    "body": ("pr-body-template", _text("pr-body-template")),
    "pr": ("pr-type", lambda inputs: Delivery(inputs.text("pr-type"))),
    "reviewers": ("reviewers", _list("reviewers")),
    "labels": ("labels", _list("labels")),
    "assign_requester": (
        "assign-requester",
        lambda inputs: inputs.is_true("assign-requester"),
    ),
    "protected_paths": ("protected-paths", _list("protected-paths")),
    "network": ("network", _text("network")),
    "allow_domains": ("allow-domains", _list("allow-domains")),
    "plan_approval": ("plan-approval", _text("plan-approval")),
    "evidence": ("evidence", _text("evidence")),
    "on_setup_failure": ("on-setup-failure", _text("on-setup-failure")),
    "context_from": ("context-from", _text("context-from")),
    "instructions": ("instructions-files", _list("instructions-files")),
    "co_author": ("co-author", _text("co-author")),
    "progress_comment": (
        "progress-comment",
        lambda inputs: inputs.is_true("progress-comment"),
    ),
}
