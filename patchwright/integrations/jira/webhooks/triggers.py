"""The requests in Jira, and the triggers made from them."""

from dataclasses import dataclass
from typing import Final

from patchwright.core.text.document.types import Blocks, Mention
from patchwright.core.text.mentions import find_request
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.jira.text.adf_reader import adf_blocks, adf_to_markdown
from patchwright.integrations.jira.text.markdown_writer import write_markdown
from patchwright.integrations.jira.text.wiki_reader import wiki_blocks, wiki_to_markdown
from patchwright.integrations.jira.webhooks.payloads import (
    JiraIssuePayload,
    JiraUser,
    JiraUserPayload,
    RichText,
)


def request_in_adf(
    document: object, own_ids: frozenset[str], handle: str
) -> str | None:
    """Return what is asked of us, as Markdown, or None if we aren't called.

    We are called by a mention of our user, or by `handle`, written with its @.
    """
    return _request(adf_blocks(document), own_ids, handle)


def request_in_wiki(text: str, own_ids: frozenset[str], handle: str) -> str | None:
    if not _may_call(text, own_ids, handle):
        return None
    return _request(wiki_blocks(text), own_ids, handle)


def _may_call(text: str, own_ids: frozenset[str], handle: str) -> bool:
    """Tell, by a plain search, whether it is worth to read a text.

    An entity or an escaped sign may be a part of a name.
    """
    folded = text.casefold()
    names = (handle[1:].casefold(), *map(str.casefold, own_ids), "&", "\\")
    return any(name in folded for name in names)


def _request(blocks: Blocks, own_ids: frozenset[str], handle: str) -> str | None:
    own = frozenset(map(str.casefold, own_ids))

    def named(call: Mention) -> str:
        """Write a mention of us as our handle, and nobody else's like it."""
        if call.person_id.casefold() in own:
            return handle
        name = f"@{call.name}"
        return name if find_request(name, handle) is None else call.name

    return find_request(write_markdown(blocks, named), handle)


SERVICE: Final = "jira"


class JiraTriggerRules(Value):
    """What counts as asking, on one site. `mention` is written with its @.

    `host` is the site's host and path. Projects that are not among `projects` are not
    listened to. `own_ids` is what the site calls our user: account id, name, key.
    """

    host: str
    projects: frozenset[str]
    mention: str
    label: str = ""
    own_ids: frozenset[str] = frozenset()


# Who is shown where an account was deleted.
NOBODY: Final = "Former user"
# The accounts of apps and automations.
# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-users/
_APP: Final = "app"


def actor_of(person: JiraUser | None, host: str, own_id: str = "") -> Actor:
    """Return the actor; our own user is a bot, as an app is."""
    if person is None:
        return Actor(service=SERVICE, login=NOBODY, host=host)
    return Actor(
        service=SERVICE,
        login=person.display_name or person.name or person.id,
        external_id=person.id,
        is_bot=person.account_type == _APP or (bool(own_id) and person.id == own_id),
        host=host,
    )


# Jira itself takes 32,767 characters unless somebody has raised that; a delivery could
# bring a million, which take a minute to read.
LONGEST_TEXT: Final = 40_000


def read_markdown(text: RichText) -> str:
    match text:
        case None:
            return ""
        case str():
            return wiki_to_markdown(text[:LONGEST_TEXT])
        case _:
            return adf_to_markdown(text)


def find_rich_request(text: RichText, rules: JiraTriggerRules) -> str | None:
    """Return what a text asks of us, None if it does not mention us."""
    match text:
        case None:
            return None
        case str():
            return request_in_wiki(text[:LONGEST_TEXT], rules.own_ids, rules.mention)
        case _:
            return request_in_adf(text, rules.own_ids, rules.mention)


def find_plain_request(text: str, rules: JiraTriggerRules) -> str | None:
    """Do the same for a text without markup, such as a summary."""
    return find_request(text, rules.mention)


@dataclass(frozen=True, slots=True)
class TicketContext:
    """A ticket, and how we listen there. `user` sent the delivery, if it says so."""

    issue: JiraIssuePayload
    rules: JiraTriggerRules
    user: JiraUserPayload | None = None

    @property
    def project(self) -> str:
        return self.issue.key.rpartition("-")[0].upper()

    @property
    def is_mapped(self) -> bool:
        return self.project in self.rules.projects

    @property
    def ref(self) -> TalkThread:
        return TalkThread(
            service=SERVICE,
            place=f"{self.rules.host}/{self.project}",
            kind=ThreadKind.TICKET,
            id=self.issue.key,
            lasting_id=self.issue.id,
        )

    def is_own(self, *people: JiraUserPayload | None) -> bool:
        """Tell whether one of them, or who sent the delivery, is us."""
        own_ids = self.rules.own_ids
        return any(
            not own_ids.isdisjoint(person.ids)
            for person in (*people, self.user)
            if person is not None
        )

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
        asker: JiraUserPayload,
        *,
        request: str = "",
        text: str = "",
        post_id: str = "",
        others: tuple[JiraUserPayload | None, ...] = (),
        audience: str = "",
    ) -> Trigger:
        """Make a trigger; `name` is what the request is called on its site.

        A ticket changes its key when it is moved to another project, so that names are
        made of the ids that stay. `audience` is who may read the answer, empty for all
        that may read the ticket.
        """
        fields = self.issue.fields
        return Trigger(
            key=f"{SERVICE}:{self.rules.host}:{name}",
            kind=kind,
            actor=actor_of(asker, self.rules.host),
            thread=self.ref.replace(audience=audience),
            request=request,
            title=fields.summary,
            body=read_markdown(fields.description),
            text=text,
            post_id=post_id,
            others=self._others(asker, others),
            installation=self.rules.host,
        )

    def _others(
        self, asker: JiraUserPayload, others: tuple[JiraUserPayload | None, ...]
    ) -> tuple[Actor, ...]:
        actors = {
            actor_of(person, self.rules.host): None
            for person in (*others, self.user)
            if person is not None and person.ids.isdisjoint(asker.ids)
        }
        return tuple(actors)
