"""What the fake Slack knows: frozen records, and the tables they live in."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from typing import Any

from patchwright.core.system.clock import Clock

Json = dict[str, Any]


class Kind(StrEnum):
    """Slack's own words for the kinds of conversations."""

    CHANNEL = "channel"
    GROUP = "group"
    DIRECT = "im"
    SEVERAL = "mpim"


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A team; `enterprise` is the organization it belongs to, if it does."""

    id: str
    name: str
    enterprise: str = ""

    @property
    def domain(self) -> str:
        return self.name.lower().replace(" ", "-")


@dataclass(frozen=True, kw_only=True)
class Person:
    id: str
    name: str
    display_name: str
    team: str
    bot_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A conversation; `shared_with` are other workspaces that see it (Connect)."""

    id: str
    name: str
    kind: Kind
    team: str
    members: frozenset[str]
    shared_with: frozenset[str] = frozenset()
    is_archived: bool = False


@dataclass(frozen=True, kw_only=True)
class File:
    id: str
    name: str
    mimetype: str
    data: bytes
    team: str
    user: str
    url_private: str


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message as it reads now; `thread_ts` is the root's, also of a root itself.

    Only what has replies, or is one, has a `thread_ts`.
    """

    channel: str
    ts: str
    user: str
    text: str
    team: str
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    edited_ts: str = ""
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    metadata: Json | None = None
    files: tuple[File, ...] = ()

    @property
    def is_reply(self) -> bool:
        return bool(self.thread_ts) and self.thread_ts != self.ts

    @property
    def shown(self) -> str:
        """All that readers see: the blocks, or the text where there are none."""
        return "\n".join(words_in(self.blocks)) if self.blocks else self.text


@dataclass(frozen=True, kw_only=True)
class Ephemeral:
    """What one member of a channel saw, and nobody else."""

    channel: str
    ts: str
    user: str
    text: str
    thread_ts: str
    blocks: tuple[Json, ...]

    @property
    def shown(self) -> str:
        return "\n".join(words_in(self.blocks)) if self.blocks else self.text


@dataclass(frozen=True, kw_only=True)
class View:
    """A form or a home tab, as it is shown to one person."""

    id: str
    user: str
    team: str
    view: Json

    @property
    def blocks(self) -> tuple[Json, ...]:
        return tuple(self.view["blocks"])

    @property
    def shown(self) -> str:
        return "\n".join(words_in(self.blocks))


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A bot token and what it is good for; in all of an organization, or one team."""

    token: str
    team: str
    enterprise: str
    is_for_all: bool
    bot_user: str
    bot_id: str
    scopes: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class App:
    id: str
    client_id: str
    client_secret: str
    signing_secret: str
    redirect_uris: tuple[str, ...]
    scopes: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A code of the OAuth flow, good for once."""

    installation: Installation
    redirect_uri: str
    installed_by: str


@dataclass
class World:
    """All of it; whoever touches it holds the lock."""

    app: App
    clock: Clock
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    ephemerals: list[Ephemeral] = field(default_factory=list)
    reactions: dict[tuple[str, str], list[tuple[str, str]]] = field(
        default_factory=dict
    )
    files: dict[str, File] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    forms: list[View] = field(default_factory=list)
    # Who may open a form, and until when, in seconds of the clock's own counter.
    triggers: dict[str, tuple[str, float]] = field(default_factory=dict)
    installations: dict[str, Installation] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    _numbers: dict[str, "count[int]"] = field(default_factory=dict)
    _last_ts: float = 0.0

    def new_id(self, letter: str) -> str:
        return f"{letter}{next(self._numbers.setdefault(letter, count(1)))}"

    def new_ts(self) -> str:
        """Return a time stamp that no other message has."""
        now = self.clock.now().timestamp()
        self._last_ts = max(round(now, 6), round(self._last_ts + 0.000001, 6))
        return f"{self._last_ts:.6f}"

    def in_channel(self, channel: str) -> list[Message]:
        found = [one for one in self.messages.values() if one.channel == channel]
        return sorted(found, key=lambda message: message.ts)

    def in_thread(self, channel: str, ts: str) -> list[Message]:
        """Return the root and its replies, oldest first."""
        of_channel = self.in_channel(channel)
        return [one for one in of_channel if ts in (one.ts, one.thread_ts)]

    def change(self, message: Message, **changes: Any) -> Message:
        changed = replace(message, **changes)
        self.messages[message.channel, message.ts] = changed
        return changed

    def bot_of(self, team: str) -> Installation | None:
        """Return the app's installation that serves a workspace."""
        enterprise = self.workspaces[team].enterprise
        for one in self.installations.values():
            if one.team == team or (one.is_for_all and one.enterprise == enterprise):
                return one
        return None


TEXTS = frozenset({"mrkdwn", "plain_text"})


def words_in(node: Any) -> list[str]:
    """Return every text in blocks, in the order in which they stand."""
    if isinstance(node, list | tuple):
        return [words for one in node for words in words_in(one)]
    if not isinstance(node, Mapping):
        return []
    if node.get("type") in (*TEXTS, "text", "markdown") and "text" in node:
        return [str(node["text"])]
    return [words for value in node.values() for words in words_in(value)]
