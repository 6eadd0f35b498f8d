"""The fields of Jira's answers and webhooks that are read."""

from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    StringConstraints,
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


# https://developer.atlassian.com/cloud/jira/platform/webhooks/
# https://developer.atlassian.com/server/jira/platform/webhooks/

# They become parts of addresses.
Key = Annotated[str, StringConstraints(pattern=r"(?-u)^[A-Za-z]\w*-\d+$")]
Id = Annotated[str, StringConstraints(pattern=r"(?-u)^\d+$")]
# Jira sends null for what was left empty.
Labels = Annotated[list[str], BeforeValidator(lambda value: value or [])]
# Wiki markup in deliveries, a document (ADF) in answers of Cloud's interface v3.
RichText = str | dict[str, Any] | None


class JiraUserPayload(JiraUser):
    """A user; `address` is where the site says they are."""

    address: Text = Field("", alias="self")

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(filter(None, (self.account_id, self.name, self.key)))


class JiraCommentPayload(JiraModel):
    address: Text = Field("", alias="self")
    id: Id
    author: JiraUserPayload | None = None
    editor: JiraUserPayload | None = Field(None, alias="updateAuthor")
    body: RichText = None
    created: datetime | None = None
    updated: datetime | None = None
    visibility: CommentVisibility | None = None
    for_customers: bool = Field(True, alias="jsdPublic")

    @property
    def audience(self) -> str:
        return audience_of(self.visibility, for_customers=self.for_customers)


class JiraCommentsPayload(JiraModel):
    comments: list[JiraCommentPayload] = []


class JiraFieldsPayload(JiraModel):
    """What a ticket holds; deliveries about comments have few of these."""

    summary: Text = ""
    description: RichText = None
    labels: Labels = []
    assignee: JiraUserPayload | None = None
    creator: JiraUserPayload | None = None
    created: datetime | None = None
    updated: datetime | None = None
    comment: JiraCommentsPayload = JiraCommentsPayload()


class ChangedField(JiraModel):
    """A field that was changed, as identifiers and as people read it.

    A data center names no `fieldId`, and custom fields may have any name.
    """

    field: str
    kind: str = Field("", alias="fieldtype")
    old: Text = Field("", alias="from")
    new: Text = Field("", alias="to")
    old_words: Text = Field("", alias="fromString")
    new_words: Text = Field("", alias="toString")


class TicketChanges(JiraModel):
    """What one act changed; `id` is what the ticket's history calls it, too."""

    id: Annotated[str, BeforeValidator(str)] = ""
    items: list[ChangedField] = []


class HistoryEntry(TicketChanges):
    """A line of a ticket's history."""

    author: JiraUserPayload | None = None
    created: datetime


class TicketHistory(JiraModel):
    histories: list[HistoryEntry] = []


class JiraIssuePayload(JiraModel):
    address: str = Field(alias="self")
    id: Id
    key: Key
    fields: JiraFieldsPayload = JiraFieldsPayload()


class TicketWithHistory(JiraIssuePayload):
    """An issue as a search returns it, with its history."""

    changelog: TicketHistory = TicketHistory()


class JiraDelivery(JiraModel):
    """`timestamp` counts milliseconds since 1970."""

    event: str = Field(alias="webhookEvent")
    event_type: Text = Field("", alias="issue_event_type_name")
    timestamp: int = 0
    user: JiraUserPayload | None = None
    issue: JiraIssuePayload | None = None
    comment: JiraCommentPayload | None = None
    changelog: TicketChanges | None = None
