"""What a repository says about our work in it: `.patchwright.toml`, parsed."""

from enum import StrEnum
from typing import Final, Literal

from patchwright.core.types.base import Value
from patchwright.core.types.people import Permission

CONFIG_FILE: Final = ".patchwright.toml"
PROTECTED_PATHS: Final = (".github/**", "CODEOWNERS", ".patchwright*")


class Delivery(StrEnum):
    """How a change is handed over; without any of these, as the proof allows."""

    DRAFT = "draft"
    READY = "ready"
    BRANCH = "branch"
    PATCH = "patch"
    NONE = "none"


class Occasion(StrEnum):
    """What may start a run in a repository.

    `review` is one that asks for changes of a pull request of ours, without a mention.
    """

    MENTION = "mention"
    LABEL = "label"
    ASSIGNMENT = "assignment"
    REVIEW = "review"
    CHECKS = "checks"
    CONFLICT = "conflict"


class RepositoryConfig(Value):
    """The wishes of a repository; None and empty leave it to the service's settings.

    `branch` and `title` are templates, as `core.text.templates` fills them in.
    `problems` are what could not be read, a sentence each: it is told to people and
    otherwise as if it were not there.
    """

    model: str = ""
    image: str = ""
    setup: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    base: str = ""
    branch: str = ""
    title: str = ""
    pr: Delivery | None = None
    reviewers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    assign_requester: bool = True
    protected_paths: tuple[str, ...] = PROTECTED_PATHS
    allow_users: tuple[str, ...] = ()
    allow_bots: tuple[str, ...] = ()
    min_permission: Permission | None = None
    max_cost_usd: float | None = None
    max_iterations: int | None = None
    triggers: tuple[Occasion, ...] = (
        Occasion.MENTION,
        Occasion.LABEL,
        Occasion.ASSIGNMENT,
        Occasion.CHECKS,
        Occasion.CONFLICT,
    )
    network: Literal["deny", "allow"] | None = None
    allow_domains: tuple[str, ...] = ()
    ci_rounds: int = 2
    plan_approval: Literal["none", "comment"] = "none"
    problems: tuple[str, ...] = ()
