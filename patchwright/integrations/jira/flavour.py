"""In what Jira Cloud and a data center differ."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.text.adf_in import adf_to_markdown
from patchwright.integrations.jira.text.adf_out import to_adf
from patchwright.integrations.jira.text.wiki_in import wiki_to_markdown
from patchwright.integrations.jira.text.wiki_out import to_wiki


@dataclass(frozen=True, slots=True)
class Deployment:
    """How texts and people are written, and where tickets are searched.

    `version` is that of the API. `read` takes a text as Jira has it, which may be
    null. With `has_tokens` the pages of a search are named by tokens.
    """

    version: str
    person_key: str
    write: Callable[[str], object]
    read: Callable[[JsonValue], str]
    search: str
    has_tokens: bool

    def person(self, person_id: str) -> JsonObject:
        return {self.person_key: person_id}


def _read_document(body: JsonValue) -> str:
    # A field of one line is a string in the cloud too.
    return adf_to_markdown(body) if isinstance(body, dict) else _read_wiki(body)


def _read_wiki(body: JsonValue) -> str:
    return wiki_to_markdown(body) if isinstance(body, str) else ""


# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/
CLOUD: Final = Deployment(
    version="3",
    person_key="accountId",
    write=to_adf,
    read=_read_document,
    search="search/jql",
    has_tokens=True,
)
# https://developer.atlassian.com/server/jira/platform/rest/v10000/api-group-search/
DATA_CENTER: Final = Deployment(
    version="2",
    person_key="name",
    write=to_wiki,
    read=_read_wiki,
    search="search",
    has_tokens=False,
)
