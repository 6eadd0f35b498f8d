"""What a text of people can refer to: repositories, their threads, tickets."""

import re
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind

# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
# A login of a managed user ends with an underscore and the enterprise's short code.
# https://docs.github.com/en/enterprise-cloud@latest/admin/concepts/identity-and-access-management/enterprise-managed-users
OWNER_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
# A full stop at the end is that of a sentence.
NAME_PATTERN: Final = r"(?!\.{1,2}(?![\w.-]))[A-Za-z0-9_.-]{0,99}[A-Za-z0-9_-]"
# What stands where an owner does in addresses of GitHub, and is none.
_NO_OWNERS: Final = frozenset(
    {"about", "apps", "collections", "enterprise", "explore", "features", "issues"}
    | {"login", "marketplace", "notifications", "orgs", "organizations", "pulls"}
    | {"search", "settings", "site", "sponsors", "stars", "topics", "users"}
)


class ReferenceScope(Value):
    """The forge and the ticket system that texts may refer to.

    `known` are the full names of the repositories that we know of: nothing else is
    taken for one where it could be a path as well. `projects` are the keys whose
    tickets count.
    """

    forge: str
    web_url: str
    known: tuple[str, ...] = ()
    jira_url: str = ""
    jira_host: str = ""
    projects: tuple[str, ...] = ()

    def repository(self, full_name: str) -> RepoRef:
        """Return a repository under the name that we know, whatever its case here."""
        name = full_name.removesuffix(".git")
        return self.known_repository(name) or RepoRef(forge=self.forge, full_name=name)

    def known_repository(self, full_name: str) -> RepoRef | None:
        wanted = full_name.casefold()
        names = (name for name in self.known if name.casefold() == wanted)
        found = next(names, None)
        return RepoRef(forge=self.forge, full_name=found) if found else None

    def has_owner(self, owner: str) -> bool:
        """Tell whether a repository that we know is that owner's."""
        start = f"{owner}/".casefold()
        return any(name.casefold().startswith(start) for name in self.known)

    def linked_repository(self, full_name: str) -> RepoRef | None:
        """Return what an address of the forge leads to, unless it is another page."""
        is_page = full_name.partition("/")[0].casefold() in _NO_OWNERS
        return None if is_page else self.repository(full_name)

    def ticket(self, key: str) -> TalkThread | None:
        """Return the ticket with that key if its project is one of ours."""
        project = key.rpartition("-")[0].upper()
        if not self.jira_host or project not in self.projects:
            return None
        return TalkThread(
            service="jira",
            place=f"{self.jira_host}/{project}",
            kind=ThreadKind.TICKET,
            id=key.upper(),
        )

    def path_on_forge(self, address: str) -> str | None:
        """Return what follows the forge's address, or None for another host."""
        return _path_below(address, self.web_url)

    def path_on_jira(self, address: str) -> str | None:
        return _path_below(address, self.jira_url) if self.jira_url else None


def _path_below(address: str, base: str) -> str | None:
    """Compare without the scheme, which people leave out, and without case."""
    parts = urlsplit(base)
    start = rf"(?:https?://)?(?:www\.)?{re.escape(parts.netloc + parts.path)}(?:/|\Z)"
    found = re.match(start, address, re.IGNORECASE)
    return address[found.end() :] if found else None
