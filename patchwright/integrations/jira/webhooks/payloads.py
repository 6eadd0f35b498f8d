"""The fields of Jira's deliveries and tickets that are read."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from patchwright.integrations.jira import responses
from patchwright.integrations.jira.responses import JiraModel, Text

# https://developer.atlassian.com/cloud/jira/platform/webhooks/
# https://developer.atlassian.com/server/jira/platform/webhooks/

# They become parts of addresses.
Key = Annotated[str, StringConstraints(pattern=r"(?-u)^[A-Za-z]\w*-\d+$")]
Id = Annotated[str, StringConstraints(pattern=r"(?-u)^\d+$")]
# Jira sends null for what was left empty.
Labels = Annotated[list[str], BeforeValidator(lambda value: value or [])]
# Wiki markup in deliveries, a document (ADF) in answers of Cloud's interface v3.
RichText = str | dict[str, Any] | None


class JiraUserPayload(responses.JiraUser):
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
    visibility: responses.CommentVisibility | None = None
    for_customers: bool = Field(True, alias="jsdPublic")

    @property
    def audience(self) -> str:
        return responses.audience_of(self.visibility, for_customers=self.for_customers)


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
