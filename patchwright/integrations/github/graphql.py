"""Ask GitHub in GraphQL, and read what all kinds of posts have in common there."""

from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from github import GithubException
from github.Repository import Repository
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ThreadPost
from patchwright.integrations.github.webhooks.payloads import GHOST, Text
from patchwright.integrations.github.webhooks.triggers import SERVICE

MAX_TRIES = 3
_FORBIDDEN, _BROKEN = 403, 500
# An error has a type beside its words; the answer's own status is 200.
# https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
_REFUSALS = frozenset({"FORBIDDEN", "RATE_LIMITED"})
# https://docs.github.com/en/graphql/reference/interfaces#comment
POST_FRAGMENT = """
fragment written on Comment {
  id
  body
  createdAt
  lastEditedAt
  authorAssociation
  author {
    __typename
    login
    ... on User { databaseId }
    ... on Bot { databaseId }
    ... on Organization { databaseId }
  }
}
"""


class GraphQLModel(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class PageBefore(GraphQLModel):
    """Where the page before this one ends; connections are read from their end."""

    has_previous_page: bool
    start_cursor: str | None = None


class AuthorNode(GraphQLModel):
    kind: str = Field("User", alias="__typename")
    login: str
    database_id: int | None = None

    @property
    def actor(self) -> Actor:
        is_bot = self.kind == "Bot"
        return Actor(
            service=SERVICE,
            # REST and webhooks write a bot's name so; GraphQL leaves the end out.
            login=f"{self.login}[bot]" if is_bot else self.login,
            external_id="" if self.database_id is None else str(self.database_id),
            is_bot=is_bot,
        )


class Association(StrEnum):
    """How close an author is to a repository.

    https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
    """

    OWNER = "OWNER"
    MEMBER = "MEMBER"
    COLLABORATOR = "COLLABORATOR"
    CONTRIBUTOR = "CONTRIBUTOR"
    FIRST_TIME_CONTRIBUTOR = "FIRST_TIME_CONTRIBUTOR"
    FIRST_TIMER = "FIRST_TIMER"
    MANNEQUIN = "MANNEQUIN"
    NONE = "NONE"


_ROLES = {
    Association.OWNER: "owner",
    Association.MEMBER: "member",
    Association.COLLABORATOR: "collaborator",
    Association.CONTRIBUTOR: "contributor",
    Association.FIRST_TIME_CONTRIBUTOR: "newcomer",
    Association.FIRST_TIMER: "newcomer",
    Association.MANNEQUIN: "imported account",
    Association.NONE: "outsider",
}


class PostNode(GraphQLModel):
    """What `POST_FRAGMENT` asks for; without an author the account was deleted."""

    id: str
    body: Text = ""
    created_at: datetime
    last_edited_at: datetime | None = None
    author_association: Association = Association.NONE
    author: AuthorNode | None = None

    def post(
        self, post_id: str, label: str = "", at: datetime | None = None
    ) -> ThreadPost:
        """Return it as a post; `at` replaces the time it was begun at."""
        ghost = Actor(service=SERVICE, login=GHOST)
        return ThreadPost(
            id=post_id,
            author=self.author.actor if self.author else ghost,
            text=self.body,
            at=at or self.created_at,
            edited_at=self.last_edited_at,
            label=label,
            role=_ROLES[self.author_association],
        )


Answer = TypeVar("Answer", bound=BaseModel)


def query(
    repo: Repository, text: str, variables: dict[str, object], answer: type[Answer]
) -> Answer:
    """Send a query, and again if GitHub fails: it is a POST that only reads.

    Raises the errors of PyGithub, and pydantic's for an answer of another shape.
    """
    for _ in range(MAX_TRIES - 1):
        try:
            return mutate(repo, text, variables, answer)
        except GithubException as error:
            if error.status < _BROKEN:
                raise
    return mutate(repo, text, variables, answer)


def mutate(
    repo: Repository, text: str, variables: dict[str, object], answer: type[Answer]
) -> Answer:
    """Ask once. Raises what `query` raises."""
    try:
        _, found = repo.requester.graphql_query(text, variables)
    except GithubException as error:
        raise _with_rest_status(error) from error
    return answer.model_validate(found.get("data"))


def owner_and_name(full_name: str) -> dict[str, object]:
    owner, _, name = full_name.partition("/")
    return {"owner": owner, "name": name}


def _with_rest_status(error: GithubException) -> GithubException:
    """Give a refusal the status that REST would give it."""
    problems = error.data.get("errors") if isinstance(error.data, dict) else None
    kinds = {one.get("type") for one in problems or [] if isinstance(one, dict)}
    if not kinds & _REFUSALS:
        return error
    return GithubException(_FORBIDDEN, error.data, error.headers)
