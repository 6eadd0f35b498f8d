"""Hold what the fake hears and says against Linear's own descriptions."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any

from graphql import DocumentNode, GraphQLError, GraphQLSchema, build_schema, validate
from jsonschema import Draft202012Validator

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.state import World
from tests.provision.environment import corpus

# What describes a body of each type; the rest are `EntityWebhookPayload`.
_BODIES = {
    "AgentSessionEvent": "AgentSessionEventWebhookPayload",
    "AppUserNotification": "AppUserNotificationWebhookPayload",
    "OAuthApp": "OAuthAppWebhookPayload",
    "PermissionChange": "AppUserTeamAccessChangedWebhookPayload",
}
_DATA = {
    "Attachment": "AttachmentWebhookPayload",
    "Comment": "CommentWebhookPayload",
    "Issue": "IssueWebhookPayload",
    "Reaction": "ReactionWebhookPayload",
}


class ContractError(AssertionError):
    """The fake, or who spoke to it, left what Linear describes."""


@dataclass
class Contract:
    """What was heard, to be judged when nobody waits for an answer."""

    documents: list[tuple[DocumentNode, list[GraphQLError]]] = field(
        default_factory=list
    )

    def note_document(
        self, document: DocumentNode, problems: list[GraphQLError]
    ) -> None:
        """Keep a document, and what the fake's own schema finds wrong with it."""
        self.documents.append((document, problems))

    def check(self, world: World) -> None:
        found = [
            *self._unknown_documents(),
            *wrong_deliveries(world),
            *wrong_answers(world),
        ]
        if found:
            raise ContractError("\n".join(found))

    def _unknown_documents(self) -> Iterator[str]:
        """Say where Linear and the fake would not answer alike."""
        described = described_schema()
        if described is None:
            return
        for document, problems in self.documents:
            theirs = validate(described, document)
            if bool(theirs) != bool(problems):
                both = [one.message for one in (*problems, *theirs)]
                yield f"the fake's schema and Linear's differ: {both}"


def wrong_deliveries(world: World) -> Iterator[str]:
    """Say which webhooks are not as they are described."""
    described = described_bodies()
    if described is None:
        return
    for one in world.deliveries:
        body = json.loads(one.body)
        schemas = [(_BODIES.get(one.event, "EntityWebhookPayload"), body)]
        if one.event in _DATA:
            schemas.append((_DATA[one.event], body["data"]))
        for name, value in schemas:
            for error in _validator(described, name).iter_errors(value):
                yield f"{one.event} {one.action}: {error.json_path}: {error.message}"


def wrong_answers(world: World) -> Iterator[str]:
    """Say where a receiver took a delivery in words that Linear does not take.

    https://linear.app/developers/webhooks
    """
    for one in world.deliveries:
        for status in {receipt.status for receipt in one.receipts}:
            if HTTPStatus.OK < status < HTTPStatus.MULTIPLE_CHOICES:
                yield (
                    f"{one.event} {one.action} was answered with {status}: "
                    "Linear takes 200 alone, and sends it again"
                )


def _validator(described: Json, name: str) -> Any:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", **described})


@cache
def described_schema() -> GraphQLSchema | None:
    folder = corpus()
    if folder is None:
        return None
    return build_schema((folder / "linear" / "schema.graphql").read_text())


@cache
def described_bodies() -> Json | None:
    """Return Linear's description of webhooks; its own title is of no use here."""
    folder = corpus()
    if folder is None:
        return None
    raw = json.loads((folder / "linear" / "webhooks.schema.json").read_bytes())
    return {"$defs": raw["$defs"]}
