"""The names that people are known by in a workspace, looked up once."""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from patchwright.core.errors import NotFoundError
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.payloads import UserResponse

MAX_NAMES: Final = 5_000


class UserNames:
    """Remembers names as long as the process lives, the latest used of them."""

    def __init__(self, api: SlackClient) -> None:
        self._api = api
        self._names: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = Lock()

    def names_of(self, team: str, ids: Iterable[str]) -> dict[str, str]:
        return {one: self.name_of(team, one) for one in sorted(set(ids))}

    def name_of(self, team: str, user: str) -> str:
        """Return the name, or the id of somebody whom this workspace cannot see."""
        known = self._recall((team, user))
        if known is not None:
            return known
        name = self._fetch(team, user)
        self._remember((team, user), name)
        return name

    def _fetch(self, team: str, user: str) -> str:
        try:
            found = self._api.ask(
                team, UserResponse, lambda client: client.users_info(user=user)
            )
        except NotFoundError:
            return user
        return found.user.shown

    def _recall(self, key: tuple[str, str]) -> str | None:
        with self._lock:
            name = self._names.get(key)
            if name is not None:
                self._names.move_to_end(key)
            return name

    def _remember(self, key: tuple[str, str], name: str) -> None:
        with self._lock:
            self._names[key] = name
            while len(self._names) > MAX_NAMES:
                self._names.popitem(last=False)
