"""Find the repositories that a person may choose from, with their own token."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from github import Auth, Github
from github.PaginatedList import PaginatedList
from github.Repository import Repository
from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.errors import PermissionDeniedError
from patchwright.integrations.github.connection import LARGEST_PAGE, GitHubConnection
from patchwright.integrations.github.errors import translate_errors

# Somebody waits for the answer: ten pages are read, and no more.
_MOST_READ: Final = 10 * LARGEST_PAGE


def fetch_readable_repositories(
    connection: GitHubConnection,
    token: SecretStr,
    query: str,
    *,
    clock: Clock,
    most: int = LARGEST_PAGE,
) -> tuple[str, ...]:
    """Return full names that contain `query`, the likeliest first.

    Of an App's token these are the repositories that both the person and the App can
    reach, of an OAuth app's all of the person's. Raises `AuthenticationError` if the
    token does not count any more.
    """
    client = connection.open_client(Auth.Token(token.get_secret_value()))
    try:
        with translate_errors(clock):
            names = set(islice(_names(client, clock), _MOST_READ))
    finally:
        client.close()
    return rank(names, query)[:most]


def rank(names: Iterable[str], query: str) -> tuple[str, ...]:
    """Sort what contains the query: a name that begins with it comes first."""
    wanted = query.strip().casefold()
    found = [name for name in names if wanted in name.casefold()]
    return tuple(sorted(found, key=lambda name: (_distance(name, wanted), name)))


def _distance(name: str, wanted: str) -> int:
    whole = name.casefold()
    own = whole.partition("/")[2]
    if wanted in (own, whole):
        return 0
    return 1 if own.startswith(wanted) or whole.startswith(wanted) else 2


def _names(client: Github, clock: Clock) -> Iterator[str]:
    """List what the token reaches; an OAuth app's has no installations to list.

    https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
    """
    try:
        with translate_errors(clock):
            installations = [each.id for each in client.get_user().get_installations()]
    except PermissionDeniedError:
        yield from (repo.full_name for repo in client.get_user().get_repos())
        return
    for installation in installations:
        yield from (repo.full_name for repo in _of_installation(client, installation))


def _of_installation(client: Github, number: int) -> PaginatedList[Repository]:
    # PyGithub lists them as the App itself alone.
    return PaginatedList(
        Repository,
        client.requester,
        f"/user/installations/{number}/repositories",
        list_item="repositories",
    )
