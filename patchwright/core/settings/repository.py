"""What a repository says about our work in it: `.patchwright.toml`, parsed."""

from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import model_validator

from patchwright.core.types.base import Value
from patchwright.core.types.people import Permission

CONFIG_FILE: Final = ".patchwright.toml"
PROTECTED_PATHS: Final = (".github/**", "CODEOWNERS", ".patchwright*")
# Read in this order; the first ones are the first to be shown.
GENERAL_INSTRUCTIONS: Final = (
    "AGENTS.md",
    "CLAUDE.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
)


class DeliveryMode(StrEnum):
    """How a change is handed over; without any of these, as the proof allows."""

    DRAFT = "draft"
    READY = "ready"
    BRANCH = "branch"
    PATCH = "patch"
    NONE = "none"


class FollowUpTrigger(StrEnum):
    """What may start a run in a repository.

    `review` is one that asks for changes of a pull request of ours, without a mention.
    """

    MENTION = "mention"
    LABEL = "label"
    ASSIGNMENT = "assignment"
    REVIEW = "review"
    CHECKS = "checks"
    CONFLICT = "conflict"


# Whose comments the agent reads, besides the opening text.
ContextFrom = Literal["write", "association", "all-marked"]


class RepositoryConfig(Value):
    """The settings of a repository; None and empty mean the service's settings.

    `branch`, `title` and `body` are templates, as `core.text.templates` fills them in.
    `context_from` says whose comments the agent reads besides the opening text: of
    those who may write, of those whom the forge calls associated, or everybody's; None
    is "write" on a forge, and everybody's in a chat or a ticket.
    `instructions` are the files that are read for agents, in place of the usual ones.
    With `evidence` "best-effort" a change without proof is no draft for that, and with
    "off" nothing is run to prove it. After a `setup` that failed the work stops or goes
    on. `file` is where it is written. `problems` are sentences for people: about keys
    that could not be read and are ignored, and about keys that have a new name.
    """

    model: str = ""
    image: str = ""
    setup: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    base: str = ""
    branch: str = ""
    title: str = ""
    body: str = ""
    deliver: DeliveryMode | None = None
    reviewers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    assign_requester: bool = True
    protected_paths: tuple[str, ...] = PROTECTED_PATHS
    allow_users: tuple[str, ...] = ()
    allow_bots: tuple[str, ...] = ()
    min_permission: Permission | None = None
    max_cost_usd: float | None = None
    max_iterations: int | None = None
    timeout_minutes: float | None = None
    triggers: tuple[FollowUpTrigger, ...] = (
        FollowUpTrigger.MENTION,
        FollowUpTrigger.LABEL,
        FollowUpTrigger.ASSIGNMENT,
        FollowUpTrigger.CHECKS,
        FollowUpTrigger.CONFLICT,
    )
    network: Literal["deny", "allowlist", "allow"] | None = None
    allow_domains: tuple[str, ...] = ()
    ci_rounds: int = 2
    plan_approval: Literal["none", "comment"] = "none"
    evidence: Literal["required", "best-effort", "off"] = "required"
    on_setup_failure: Literal["stop", "continue"] = "stop"
    context_from: ContextFrom | None = None
    instructions: tuple[str, ...] = ()
    co_author: Literal["requester", "none"] = "requester"
    progress_comment: bool = True
    file: str = CONFIG_FILE
    problems: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_former_plan(cls, data: Any) -> Any:  # noqa: ANN401 - as pydantic hands it
        """Read what the version before has stored with a run."""
        if not isinstance(data, dict) or "pr" not in data:
            return data
        return {"deliver": data["pr"], **data}

    @property
    def kept_for_people(self) -> tuple[str, ...]:
        """The paths that a change must not touch without a person's look.

        Where this is written is always one of them if that is no usual place.
        """
        if self.file == CONFIG_FILE:
            return self.protected_paths
        return (*self.protected_paths, self.file, CONFIG_FILE)
