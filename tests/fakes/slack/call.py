"""One call of a method, and how it is refused."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack.state import Channel, Installation, Json, Kind, Message, World

HISTORY = {
    Kind.CHANNEL: "channels:history",
    Kind.GROUP: "groups:history",
    Kind.DIRECT: "im:history",
    Kind.SEVERAL: "mpim:history",
}


class RefusedError(Exception):
    """Slack says no: `ok` is false, and `error` a code."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.body: Json = {"ok": False, "error": error, **details}


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call by a token that is known; `args` are as they came, texts in forms."""

    world: World
    bot: Installation
    args: Json

    def text(self, name: str) -> str:
        value = self.args.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if not value:
            return default
        if not value.isdecimal():
            raise RefusedError("invalid_arguments")
        return int(value)

    def parsed(self, name: str) -> Any:
        """Return JSON, which stands as text in forms; None where it is absent."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise RefusedError("invalid_json") from None

    def needs(self, scope: str) -> None:
        if scope not in self.bot.scopes:
            provided = ",".join(sorted(self.bot.scopes))
            raise RefusedError("missing_scope", needed=scope, provided=provided)

    def channel(self) -> Channel:
        """Return the channel, of which we are a member; a private one is hidden."""
        found = self.world.channels.get(self.text("channel"))
        if found is None or not self._sees(found):
            raise RefusedError("channel_not_found")
        if self.bot.bot_user not in found.members:
            is_public = found.kind is Kind.CHANNEL
            raise RefusedError("not_in_channel" if is_public else "channel_not_found")
        return found

    def open_channel(self) -> Channel:
        channel = self.channel()
        if channel.is_archived:
            raise RefusedError("is_archived")
        return channel

    def message(self, channel: Channel, ts: str, error: str) -> Message:
        found = self.world.messages.get((channel.id, ts))
        if found is None:
            raise RefusedError(error)
        return found

    def _sees(self, channel: Channel) -> bool:
        teams = {channel.team, *channel.shared_with}
        if not self.bot.is_for_all:
            return self.bot.team in teams
        enterprises = {self.world.workspaces[team].enterprise for team in teams}
        return self.bot.enterprise in enterprises


Endpoint = Callable[[Call], Json]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of the Web API: its arguments by name, and the scope it needs."""

    endpoint: Endpoint
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    scope: str = ""
    # The methods that read take forms only.
    takes_json: bool = True


def method(
    endpoint: Endpoint,
    required: str = "",
    optional: str = "",
    *,
    scope: str = "",
    takes_json: bool = True,
) -> Method:
    """Describe a method; the names of its arguments are separated by blanks."""
    return Method(
        endpoint=endpoint,
        required=frozenset(required.split()),
        optional=frozenset(optional.split()),
        scope=scope,
        takes_json=takes_json,
    )


@dataclass(kw_only=True)
class Fault:
    """What the next calls of a method meet instead of an answer."""

    method: str
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    # Whether the work is done before the answer gets lost.
    is_late: bool = False
