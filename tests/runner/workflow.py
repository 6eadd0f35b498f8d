"""A workflow's file, as far as GitHub reads it before a job starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.runner.action import Step, read_step
from tests.runner.expressions.evaluate import Scene
from tests.runner.expressions.templates import fill, is_met
from tests.runner.expressions.values import Value, to_text

Document = dict[str, Value]


@dataclass(frozen=True)
class Job:
    """A job as written; expressions in it are not evaluated yet."""

    condition: str | None
    group: str
    permissions: Mapping[str, str]
    outputs: Mapping[str, str]
    given: Mapping[str, str]
    secrets: Mapping[str, str]
    steps: tuple[Step, ...]

    def starts(self, scene: Scene) -> bool:
        return is_met(self.condition, scene)

    def group_in(self, scene: Scene) -> str:
        """Return the group as GitHub compares it, without regard to case."""
        return fill(self.group, scene).lower()


@dataclass(frozen=True)
class Workflow:
    """What it takes and hands back is empty where no other may call it."""

    inputs: Mapping[str, Document]
    secrets: Mapping[str, Document]
    outputs: frozenset[str]
    permissions: Mapping[str, str] | None
    jobs: Mapping[str, Job]

    def inputs_from(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """Return what the `inputs` context holds when it is called with these."""
        if unknown := given.keys() - self.inputs.keys():
            raise ValueError(f"Invalid input: {sorted(unknown)}")
        defaults = {name: one.get("default") for name, one in self.inputs.items()}
        return {**defaults, **given}


def read_workflow(file: Path) -> Workflow:
    # This loader takes every value for a text, and so `on` for no boolean.
    document = yaml.load(file.read_text(), yaml.BaseLoader)
    called = _own(_own(document["on"]).get("workflow_call"))
    has_rights = "permissions" in document
    return Workflow(
        inputs=_documents(called.get("inputs")),
        secrets=_documents(called.get("secrets")),
        outputs=frozenset(_own(called.get("outputs"))),
        permissions=_texts(document["permissions"]) if has_rights else None,
        jobs={name: _job(one) for name, one in _documents(document["jobs"]).items()},
    )


def _job(document: Document) -> Job:
    steps = document.get("steps")
    return Job(
        condition=to_text(document["if"]) if "if" in document else None,
        group=to_text(_own(document.get("concurrency")).get("group")),
        permissions=_texts(document.get("permissions")),
        outputs=_texts(document.get("outputs")),
        given=_texts(document.get("with")),
        secrets=_texts(document.get("secrets")),
        steps=tuple(
            read_step({"shell": "bash", **_own(one)})
            for one in (steps if isinstance(steps, list) else ())
        ),
    )


def _own(document: Value) -> Document:
    return document if isinstance(document, dict) else {}


def _documents(document: Value) -> dict[str, Document]:
    return {name: _own(one) for name, one in _own(document).items()}


def _texts(document: Value) -> dict[str, str]:
    return {name: to_text(value) for name, value in _own(document).items()}
