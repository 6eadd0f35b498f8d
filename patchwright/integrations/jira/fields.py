"""Find the site's own fields that belong to what is asked for."""

from collections.abc import Iterable
from typing import Final

from pydantic import JsonValue

from patchwright.core.types.base import Value
from patchwright.integrations.jira.answers import FieldDefinitions, parse_answer
from patchwright.integrations.jira.api import JiraClient

# In a data center a ticket names its epic in a field of Jira Software's.
# https://support.atlassian.com/jira-software-cloud/docs/what-is-an-epic/
_EPIC_LINK: Final = "com.pyxis.greenhopper.jira:gh-epic-link"


class FieldName(Value):
    id: str
    name: str


class SiteFields(Value):
    """Fields with words in them, and the one that names an epic, if there is one."""

    criteria: tuple[FieldName, ...] = ()
    epic: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        epic = (self.epic,) if self.epic else ()
        return (*(field.id for field in self.criteria), *epic)


def fetch_site_fields(api: JiraClient, wanted: Iterable[str]) -> SiteFields:
    """Look the names up, once for a site; what it does not have is passed over."""
    known = parse_answer(FieldDefinitions, api.get("field")).root
    names = {name.casefold() for name in wanted}
    criteria = (
        FieldName(id=field.id, name=field.name or field.id)
        for field in known
        if field.id.casefold() in names or field.name.casefold() in names
    )
    epics = (field.id for field in known if field.kind.custom == _EPIC_LINK)
    return SiteFields(criteria=tuple(criteria), epic=next(epics, ""))


def field_text(api: JiraClient, value: JsonValue) -> str:
    """Return what a field says: text, a choice, or a list of them."""
    if isinstance(value, list):
        parts = (field_text(api, part) for part in value)
        return "\n".join(f"- {part}" for part in parts if part)
    if not isinstance(value, dict):
        return api.deployment.read(value) if isinstance(value, str) else ""
    if value.get("type") == "doc":
        return api.deployment.read(value)
    chosen = value.get("value") or value.get("name")
    return chosen if isinstance(chosen, str) else ""
