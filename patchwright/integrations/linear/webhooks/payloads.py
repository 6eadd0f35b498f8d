"""The fields of Linear's answers and webhooks that are read."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import BeforeValidator, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from patchwright.core.types.base import Replaceable, Value
from patchwright.core.types.people import Actor

# https://linear.app/developers/webhooks
# https://linear.app/developers/agent-interaction

SERVICE: Final = "linear"
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
# Who is shown where an account was deleted, or an integration wrote.
NOBODY: Final = "Former user"
# What a delivery calls an actor who is no user.
_PROGRAMS: Final = frozenset({"oauthclient", "integration"})
JsonObject = dict[str, JsonValue]


class LinearWorkspace(Value):
    """A workspace, and who we are there: `own_name` is what people write after an @.

    `url_key` is its name in addresses. An app (`is_app`) is told of sessions.
    """

    id: str
    url_key: str
    name: str = ""
    own_id: str = ""
    own_name: str = ""
    is_app: bool = False


class LinearModel(Replaceable):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class LinearPerson(LinearModel):
    """A user; in a delivery `app` is not told, and `display_name` rarely."""

    id: Text = ""
    name: Text = ""
    display_name: Text = ""
    app: bool = False
    url: Text = ""
    type: Text = ""

    @property
    def is_program(self) -> bool:
        """Whether no person acted: an app, or an integration such as Slack's."""
        return self.app or self.type.casefold() in _PROGRAMS

    def actor(self, url_key: str, own_id: str) -> Actor:
        """Return them as somebody of a workspace; we ourselves are a bot."""
        return Actor(
            service=SERVICE,
            login=self.name or self.display_name or self.id or NOBODY,
            external_id=self.id,
            is_bot=self.is_program or (bool(self.id) and self.id == own_id),
            host=url_key,
        )


class PageEnd(LinearModel):
    """Whether there is another page, and where it begins."""

    has_next_page: bool = False
    end_cursor: str | None = None


class TeamPayload(LinearModel):
    id: Text = ""
    key: Text = ""
    name: Text = ""


class NamedNode(LinearModel):
    id: Text = ""
    name: Text = ""


class IssuePayload(LinearModel):
    """An issue, as far as the delivery tells of it: often no more than its id."""

    id: str
    identifier: Text = ""
    number: int | None = None
    title: Text = ""
    description: Text = ""
    url: Text = ""
    team: TeamPayload | None = None
    labels: tuple[NamedNode, ...] = ()
    label_ids: tuple[str, ...] = ()
    assignee_id: Text = ""
    delegate_id: Text = ""
    creator_id: Text = ""
    creator: LinearPerson | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def key(self) -> str:
        """Its identifier; older deliveries have its team and number alone."""
        if self.identifier or self.team is None or self.number is None:
            return self.identifier
        return f"{self.team.key}-{self.number}"


class LinearComment(LinearModel):
    id: str
    body: Text = ""
    user_id: Text = ""
    user: LinearPerson | None = None
    issue: IssuePayload | None = None
    issue_id: Text = ""
    parent_id: Text = ""
    parent: "LinearComment | None" = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    edited_at: datetime | None = None

    @property
    def author(self) -> LinearPerson:
        return self.user or LinearPerson(id=self.user_id)


class DataPayload(LinearModel):
    """A change of an issue or a comment; `updated_from` has what was there before."""

    actor: LinearPerson | None = None
    data: JsonObject = {}
    updated_from: JsonObject | None = None
    created_at: datetime | None = None


class GuidanceTeam(LinearModel):
    name: Text = ""
    display_name: Text = ""


class GuidanceOrigin(LinearModel):
    type: Text = ""
    team: GuidanceTeam | None = None


class GuidanceRule(LinearModel):
    body: Text = ""
    origin: GuidanceOrigin = GuidanceOrigin()


class SessionPayload(LinearModel):
    id: str
    issue: IssuePayload | None = None
    issue_id: Text = ""
    comment: LinearComment | None = None
    source_comment_id: Text = ""
    creator: LinearPerson | None = None
    creator_id: Text = ""
    app_user_id: Text = ""

    @property
    def person(self) -> LinearPerson:
        return self.creator or LinearPerson(id=self.creator_id)


class ActivityContent(LinearModel):
    type: Text = ""
    body: Text = ""
    user: LinearPerson | None = None


class ActivityPayload(LinearModel):
    id: str
    content: ActivityContent = ActivityContent()
    signal: Text = ""
    source_comment_id: Text = ""
    user: LinearPerson | None = None
    user_id: Text = ""

    @property
    def person(self) -> LinearPerson:
        return self.user or self.content.user or LinearPerson(id=self.user_id)


class SessionEventPayload(LinearModel):
    agent_session: SessionPayload
    agent_activity: ActivityPayload | None = None
    guidance: tuple[GuidanceRule, ...] = ()
    previous_comments: tuple[LinearComment, ...] = ()
    created_at: datetime | None = None


class LinearDelivery(LinearModel):
    """What all deliveries have; `webhook_timestamp` is in milliseconds.

    https://linear.app/developers/webhooks#the-webhook-payload
    """

    type: Text = ""
    action: Text = ""
    organization_id: Text = ""
    webhook_timestamp: float | None = None
    oauth_client_id: Text = ""
    created_at: datetime | None = None
    url: Text = ""
    app_user_id: Text = ""


def without_nulls(value: JsonValue) -> JsonValue:
    """Return it without what is null, so that a default stands for it."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value
