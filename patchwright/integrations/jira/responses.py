"""The parts of Jira's answers that are read; everything else is passed over."""

from datetime import datetime
from typing import Annotated, Final, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from patchwright.core.types.base import Replaceable
from patchwright.core.types.errors import ServiceError

# https://developer.atlassian.com/cloud/jira/platform/rest/v3/
# https://developer.atlassian.com/server/jira/platform/rest/

JsonObject = dict[str, JsonValue]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


Answer = TypeVar("Answer", bound=BaseModel)


def parse_answer(kind: type[Answer], answer: JsonValue) -> Answer:
    """Return an answer as what it should be. Raises `ServiceError` if it is not."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        raise ServiceError("Jira's answer has an unexpected shape") from error


class JiraModel(Replaceable):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class JiraUser(JiraModel):
    """A user: Cloud has account ids alone, a data center names and keys."""

    account_id: Text = ""
    name: Text = ""
    key: Text = ""
    display_name: Text = ""
    account_type: Text = ""

    @property
    def id(self) -> str:
        """What names the person in mentions and in requests."""
        return self.account_id or self.name or self.key


class CommentProperty(JiraModel):
    key: str
    value: JsonValue = None


class CommentVisibility(JiraModel):
    """Who may read a comment, where not everybody may who may read the ticket."""

    type: Text = ""
    value: Text = ""
    identifier: Text = ""


INTERNAL: Final = "internal"
_BY_IDENTIFIER: Final = "-id"


def audience_of(limit: CommentVisibility | None, *, for_customers: bool) -> str:
    """Return who may read a comment as one word, empty for all that see the ticket.

    `internal` stands for colleagues on a service desk, else it is `TYPE:NAME`, or
    `TYPE-id:IDENTIFIER` where a group is not told by name.
    """
    if limit is not None and limit.value:
        return f"{limit.type or 'group'}:{limit.value}"
    if limit is not None and limit.identifier:
        return f"{limit.type or 'group'}{_BY_IDENTIFIER}:{limit.identifier}"
    return "" if for_customers else INTERNAL


def visibility_for(audience: str) -> "dict[str, JsonValue] | None":
    """Return how a comment is limited to that audience, None if by no role or group."""
    kind, _, name = audience.partition(":")
    if not name:
        return None
    if kind.endswith(_BY_IDENTIFIER):
        kind = kind.removesuffix(_BY_IDENTIFIER)
        return {"type": kind, "identifier": name}
    return {"type": kind, "value": name}


class JiraComment(JiraModel):
    """A comment; the author is missing where the account was deleted.

    On a service desk a comment that is not `for_customers` is one among colleagues.
    """

    id: str
    author: JiraUser | None = None
    body: JsonValue = None
    created: datetime
    updated: datetime | None = None
    properties: tuple[CommentProperty, ...] = ()
    visibility: CommentVisibility | None = None
    for_customers: bool = Field(True, alias="jsdPublic")


class CommentPage(JiraModel):
    comments: tuple[JiraComment, ...] = ()
    total: int = 0


class JiraAttachment(JiraModel):
    id: str
    filename: str
    author: JiraUser | None = None
    created: datetime
    mime_type: Text = ""
    content: str


class NamedValue(JiraModel):
    name: Text = ""


class IssueReferenceFields(JiraModel):
    summary: Text = ""
    issuetype: NamedValue | None = None


class IssueReference(JiraModel):
    """Another ticket, as a ticket names it that is tied to it."""

    key: Text = ""
    fields: IssueReferenceFields = IssueReferenceFields()


class IssueLinkType(JiraModel):
    """How a link is read from either of its ends."""

    inward: Text = ""
    outward: Text = ""


class IssueLink(JiraModel):
    type: IssueLinkType = IssueLinkType()
    inward_issue: IssueReference | None = None
    outward_issue: IssueReference | None = None


class FieldChange(JiraModel):
    """One field that was changed; only Cloud has its id."""

    field: Text = ""
    field_id: Text = ""


class ChangeHistory(JiraModel):
    """What one person changed in one go."""

    author: JiraUser | None = None
    created: datetime
    items: tuple[FieldChange, ...] = ()


class Changelog(JiraModel):
    histories: tuple[ChangeHistory, ...] = ()


class IssueFields(JiraModel):
    """The fields that every ticket has; with `security` not everybody may see it."""

    summary: Text = ""
    description: JsonValue = None
    creator: JiraUser | None = None
    reporter: JiraUser | None = None
    created: datetime
    attachment: tuple[JiraAttachment, ...] = ()
    issuelinks: tuple[IssueLink, ...] = ()
    parent: IssueReference | None = None
    subtasks: tuple[IssueReference, ...] = ()
    security: NamedValue | None = None


class JiraIssue(JiraModel):
    """A ticket; `raw_fields` has the site's own fields too."""

    key: str
    raw_fields: JsonObject = Field(alias="fields")
    changelog: Changelog = Changelog()


class FieldKind(JiraModel):
    custom: Text = ""


class FieldDefinition(JiraModel):
    """A field as the site's list of them has it."""

    id: str
    name: Text = ""
    # The site's own fields have a kind, and some of Jira's have none.
    kind: FieldKind = Field(FieldKind(), alias="schema")


FieldDefinitions = RootModel[tuple[FieldDefinition, ...]]


class RequiredField(JiraModel):
    name: Text = ""
    required: bool = False
    has_default_value: bool = False


class Transition(JiraModel):
    id: str
    name: Text = ""
    to: NamedValue = NamedValue()
    fields: dict[str, RequiredField] = {}


class Transitions(JiraModel):
    transitions: tuple[Transition, ...] = ()
