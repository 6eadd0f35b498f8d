"""The repositories that a person can choose from, as fast as they type."""

import re
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import Final

import structlog

from patchwright.core.system.clock import start_call
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, name_pattern
from patchwright.resolver.access import Permissions, make_access_check
from patchwright.resolver.repository import JudgeAccess, RepositoryAccess

# Slack waits three seconds for the choices, the way there and back included.
# https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload
ANSWER_WITHIN_S: Final = 2.0
# Slack shows no more.
# https://docs.slack.dev/reference/block-kit/composition-objects/option-object
MAX_OFFERED: Final = 100
MAX_CHECKED: Final = 16
# Of all people together; more is a forge that does not answer.
_MAX_ASKING: Final = 64
# The forge is asked about what looks like a name.
_FULL_NAME: Final = re.compile(rf"{name_pattern(has_groups=True)}\Z")

Found = Future[tuple[str, ...]]
Search = Callable[[Actor, str], tuple[str, ...]]

log = structlog.get_logger(__name__)


class RepositorySearch:
    """Finds names for a person who may read all of them.

    `mapped` are the names in the settings, `recent` those of the newest conversations;
    each is shown to somebody only after `permission` was asked. `search` finds what a
    person can read by a token of their own. What comes too late is there for the next
    letter they type, if `permission` remembers it.
    """

    def __init__(
        self,
        forge: str,
        mapped: Iterable[str],
        recent: Callable[[], Iterable[RepoRef]],
        *,
        permission: Permissions,
        search: Search,
        within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._forge, self._mapped, self._recent = forge, tuple(mapped), recent
        self._permission, self._search = permission, search
        self._within_s = within_s
        self._asking: dict[tuple[RepoRef, Actor], Found] = {}
        self._one_at_a_time = threading.Lock()

    def find(self, query: str, person: Actor) -> tuple[str, ...]:
        """Return at most `MAX_OFFERED` full names that contain `query`."""
        wanted = query.strip().casefold()
        asked = [self._ask(one, person) for one in self._candidates(query)]
        asked.append(start_call(lambda: self._search_by(person, query.strip())))
        wait(asked, self._within_s)
        names = [name for call in asked if call.done() for name in call.result()]
        matching = [name for name in _once(names) if wanted in name.casefold()]
        # Somebody who has typed the whole of it looks no further.
        matching.sort(key=lambda name: name.casefold() != wanted)
        return tuple(matching[:MAX_OFFERED])

    def _candidates(self, query: str) -> list[RepoRef]:
        """Return what may be shown if the person may read it, the likeliest first."""
        wanted = query.strip().casefold()
        names = [*self._mapped, *(repo.full_name for repo in self._recent())]
        matching = [name for name in _once(names) if wanted in name.casefold()]
        if _FULL_NAME.match(wanted) and wanted not in map(str.casefold, matching):
            matching.insert(0, query.strip())
        return [
            RepoRef(forge=self._forge, full_name=name)
            for name in matching[:MAX_CHECKED]
        ]

    def _ask(self, repo: RepoRef, person: Actor) -> Found:
        """Ask the forge, or wait for the answer to the same question."""
        with self._one_at_a_time:
            pending = [one for one in self._asking.items() if not one[1].done()]
            self._asking = dict(pending)
            if known := self._asking.get((repo, person)):
                return known
            if len(pending) >= _MAX_ASKING:
                return _found_nothing()
            access = make_access_check(person, self._permission)
            call = start_call(lambda: _if_readable(repo, access))
            self._asking[repo, person] = call
            return call

    def _search_by(self, person: Actor, query: str) -> tuple[str, ...]:
        try:
            return self._search(person, query)
        except ServiceError as error:
            log.warning("repository_search_failed", reason=error.reason)
            return ()


def _if_readable(repo: RepoRef, access: JudgeAccess) -> tuple[str, ...]:
    return (repo.full_name,) if access(repo) is RepositoryAccess.READABLE else ()


def _found_nothing() -> Found:
    nothing: Found = Future()
    nothing.set_result(())
    return nothing


def _once(names: Iterable[str]) -> tuple[str, ...]:
    """Names are compared without regard to case."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.casefold(), name)
    return tuple(first.values())
