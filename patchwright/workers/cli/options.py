"""Choices on the command line, and what they come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class DeliveryChoice(StrEnum):
    """What is made of a change. A pull request is ready only when it is proven."""

    NONE = "none"
    PATCH = "patch"
    BRANCH = "branch"
    DRAFT = "draft"
    READY = "ready"


class SandboxKind(StrEnum):
    AUTO = "auto"
    DOCKER = "docker"
    LOCAL = "local"


@dataclass(frozen=True)
class ResolveOptions:
    """What `resolve` is asked to do: `url`, `issue` and `task` say about what.

    `flags` are settings by their dotted names, None where one was not given. With
    `applies` the change comes into the work tree besides. `as_object` wants one JSON
    object, and `quiet` no words on the way.
    """

    url: str | None
    repo: Path | None
    issue: Path | None
    task: str | None
    deliver: DeliveryChoice | None
    flags: Mapping[str, object]
    events: Path | None
    applies: bool
    as_object: bool
    quiet: bool


@dataclass(frozen=True)
class ReplayOptions:
    """What `replay` is asked to show of a file, or with `reruns` to run again."""

    file: Path
    run: str | None
    step: int | None
    export: Path | None
    reruns: bool
    repo: Path | None
    sandbox: SandboxKind | None
    events: Path | None
    as_object: bool
