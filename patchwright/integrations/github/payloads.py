"""The fields of GitHub's deliveries that are read; everything else is passed over."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

# https://docs.github.com/en/webhooks/webhook-events-and-payloads

# It becomes part of addresses: a name made of dots alone would lead elsewhere.
RepositoryName = Annotated[
    str, StringConstraints(pattern=r"(?-u)^[\w-]+/[\w.-]*[\w-][\w.-]*$")
]
# Who is shown where an account was deleted and GitHub sends null. https://github.com/ghost
GHOST = "ghost"
# GitHub sends null for a body that was left empty.
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Part):
    login: str
    id: int = 0
    type: str = "User"


class Named(_Part):
    name: str = ""


class Slugged(_Part):
    slug: str = ""


class Repository(_Part):
    full_name: RepositoryName


class Installation(_Part):
    id: int


class Before(_Part):
    """What a field held before an edit."""

    from_: Text = ""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=lambda name: name.rstrip("_")
    )


class Changes(_Part):
    """What an edit changed; a part that stayed as it was is absent."""

    body: Before | None = None


class Thread(_Part):
    """An issue or a pull request; a deleted author is null."""

    number: int
    title: Text = ""
    body: Text = ""
    user: User | None = None
    updated_at: str = ""
    pull_request: dict[str, Any] | None = None
    performed_via_github_app: Slugged | None = None


class Comment(_Part):
    id: int
    body: Text = ""
    user: User | None = None
    performed_via_github_app: Slugged | None = None


class Delivery(_Part):
    action: str = ""
    repository: Repository
    sender: User
    installation: Installation | None = None
    changes: Changes = Changes()
    label: Named = Named()


class IssueDelivery(Delivery):
    issue: Thread


class CommentDelivery(Delivery):
    issue: Thread
    comment: Comment


class PullRequestDelivery(Delivery):
    pull_request: Thread
