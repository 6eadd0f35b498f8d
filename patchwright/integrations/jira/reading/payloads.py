"""The fields of Jira's deliveries and tickets that are read."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from patchwright.integrations.jira import answers
from patchwright.integrations.jira.answers import Part, Text

# https://developer.atlassian.com/cloud/jira/platform/webhooks/
# https://developer.atlassian.com/server/jira/platform/webhooks/

# They become parts of addresses.
Key = Annotated[str, StringConstraints(pattern=r"(?-u)^[A-Za-z]\w*-\d+$")]
Id = Annotated[str, StringConstraints(pattern=r"(?-u)^\d+$")]
# Jira sends null for what was left empty.
Words = Annotated[list[str], BeforeValidator(lambda value: value or [])]
# Wiki markup in deliveries, a document (ADF) in answers of Cloud's interface v3.
Rich = str | dict[str, Any] | None


class Person(answers.Person):
    """A user; `address` is where the site says they are."""

    address: Text = Field("", alias="self")

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(filter(None, (self.account_id, self.name, self.key)))


class Comment(Part):
    address: Text = Field("", alias="self")
    id: Id
    author: Person | None = None
    editor: Person | None = Field(None, alias="updateAuthor")
    body: Rich = None
    created: datetime | None = None
    updated: datetime | None = None
    visibility: answers.Visibility | None = None
    for_customers: bool = Field(True, alias="jsdPublic")

    @property
    def audience(self) -> str:
        return answers.audience_of(self.visibility, for_customers=self.for_customers)


class Comments(Part):
    comments: list[Comment] = []


class Fields(Part):
    """What a ticket holds; deliveries about comments have few of these."""

    summary: Text = ""
    description: Rich = None
    labels: Words = []
    assignee: Person | None = None
    creator: Person | None = None
    created: datetime | None = None
    updated: datetime | None = None
    comment: Comments = Comments()


class Item(Part):
    """A field that was changed, as identifiers and as people read it.

    A data center names no `fieldId`, and custom fields may have any name.
    """

    field: str
    kind: str = Field("", alias="fieldtype")
    old: Text = Field("", alias="from")
    new: Text = Field("", alias="to")
    old_words: Text = Field("", alias="fromString")
    new_words: Text = Field("", alias="toString")


class Changes(Part):
    """What one act changed; `id` is what the ticket's history calls it, too."""

    id: Annotated[str, BeforeValidator(str)] = ""
    items: list[Item] = []


class Entry(Changes):
    """A line of a ticket's history."""

    author: Person | None = None
    created: datetime


class History(Part):
    histories: list[Entry] = []


class Issue(Part):
    address: str = Field(alias="self")
    id: Id
    key: Key
    fields: Fields = Fields()


class Ticket(Issue):
    """An issue as a search returns it, with its history."""

    changelog: History = History()


class Delivery(Part):
    """`timestamp` counts milliseconds since 1970."""

    event: str = Field(alias="webhookEvent")
    event_type: Text = Field("", alias="issue_event_type_name")
    timestamp: int = 0
    user: Person | None = None
    issue: Issue | None = None
    comment: Comment | None = None
    changelog: Changes | None = None
