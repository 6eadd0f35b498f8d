"""The file of a composite action, read as GitHub reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from tests.runner.expressions.evaluate import Scene
from tests.runner.expressions.templates import expressions_in, fill, paths_in
from tests.runner.expressions.values import Value, to_text

# What nobody outside the job decides, and so may be part of a script.
HARMLESS: Final = ("runner", "github.action_path", "github.run_id", "github.workspace")


class ActionError(Exception):
    """What the runner would refuse to run."""


@dataclass(frozen=True)
class Input:
    required: bool = False
    default: str = ""


@dataclass(frozen=True)
class Step:
    name: str
    run: str = ""
    uses: str = ""
    id: str = ""
    condition: str | None = None
    shell: str = ""
    folder: str = ""
    continue_on_error: str = "false"
    env: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Action:
    folder: Path
    inputs: Mapping[str, Input]
    outputs: Mapping[str, str]
    steps: tuple[Step, ...]

    def inputs_from(self, given: Mapping[str, str], scene: Scene) -> dict[str, Value]:
        """Return all inputs, defaults filled in; nobody may pass one that is unknown.

        GitHub only warns of an unknown input, and of a required one that is missing; a
        workflow of ours does neither.
        """
        known = {name.lower() for name in self.inputs}
        if unknown := [name for name in given if name.lower() not in known]:
            raise ActionError(f"Unexpected input(s) {unknown}")
        missing = [
            n for n, one in self.inputs.items() if one.required and n not in given
        ]
        if missing:
            raise ActionError(f"Input required and not supplied: {missing}")
        return {
            name: given.get(name, fill(one.default, scene))
            for name, one in self.inputs.items()
        }


def read_action(folder: Path) -> Action:
    document = yaml.safe_load((folder / "action.yml").read_text())
    runs = document["runs"]
    if runs["using"] != "composite":
        raise ActionError(f"{runs['using']} is no composite action")
    steps = tuple(read_step(one) for one in runs["steps"])
    return Action(
        folder=folder,
        inputs={name: _input(one) for name, one in document.get("inputs", {}).items()},
        outputs={n: one["value"] for n, one in document.get("outputs", {}).items()},
        steps=steps,
    )


def read_step(document: Mapping[str, Value]) -> Step:
    """Read a step, and refuse a script that others would write in."""
    run = to_text(document.get("run"))
    refuse_open_scripts(run)
    if run and not document.get("shell"):
        raise ActionError("Required property is missing: shell")
    return Step(
        name=to_text(document.get("name")) or to_text(document.get("uses")) or run,
        run=run,
        uses=to_text(document.get("uses")),
        id=to_text(document.get("id")),
        condition=to_text(document["if"]) if "if" in document else None,
        shell=to_text(document.get("shell")),
        folder=to_text(document.get("working-directory")),
        continue_on_error=to_text(document.get("continue-on-error")) or "false",
        env=_texts(document.get("env")),
        arguments=_texts(document.get("with")),
    )


def refuse_open_scripts(run: str) -> None:
    """Refuse a script with an expression whose value comes from outside.

    https://docs.github.com/en/actions/concepts/security/script-injections
    """
    read = {path for node in expressions_in(run) for path in paths_in(node)}
    longest = {p for p in read if not any(o.startswith(p + ".") for o in read)}
    if unsafe := {path for path in longest if not path.startswith(HARMLESS)}:
        raise ActionError(
            f"a script holds {sorted(unsafe)}: pass it by the environment"
        )


def _input(document: Mapping[str, Value] | None) -> Input:
    document = document or {}
    return Input(
        required=document.get("required") is True,
        default=to_text(document.get("default")),
    )


def _texts(document: Value) -> dict[str, str]:
    pairs = document if isinstance(document, dict) else {}
    return {name: to_text(value) for name, value in pairs.items()}
