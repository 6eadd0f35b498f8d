"""Choices on the command line."""

from enum import StrEnum


class Deliver(StrEnum):
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
