"""Messages as Slack shows them to programs."""

import html
import re
from collections.abc import Iterator
from typing import Final

from tests.fakes.slack.state import File, Json, Message, World

# What Slack puts between `<` and `>`: people, channels, calls, addresses.
SEQUENCE: Final = re.compile(r"<([@#!a-z][^<>\n]*)>")


def message(world: World, one: Message, *, with_metadata: bool = False) -> Json:
    body: Json = {
        "type": "message",
        "user": one.user,
        "text": one.text,
        "ts": one.ts,
        "team": one.team,
    }
    if one.subtype:
        body["subtype"] = one.subtype
    if one.thread_ts:
        body["thread_ts"] = one.thread_ts
    if one.is_reply:
        body["parent_user_id"] = _parent(world, one)
    if one.edited_ts:
        body["edited"] = {"user": one.user, "ts": one.edited_ts}
    if one.bot_id:
        body["bot_id"] = one.bot_id
        body["app_id"] = world.app.id
        body["bot_profile"] = {
            "id": one.bot_id,
            "app_id": world.app.id,
            "name": world.people[one.user].name,
            "deleted": False,
            "team_id": one.team,
        }
    body["blocks"] = list(one.blocks) or _rich_text(one)
    return {**body, **_extras(world, one, with_metadata=with_metadata)}


def _extras(world: World, one: Message, *, with_metadata: bool) -> Json:
    extras: Json = {}
    replies = world.in_thread(one.channel, one.ts)[1:]
    if replies and not one.is_reply:
        extras["reply_count"] = len(replies)
        extras["latest_reply"] = replies[-1].ts
    if one.files:
        extras["files"] = [file(one) for one in one.files]
    if one.attachments:
        extras["attachments"] = list(one.attachments)
    if one.metadata is not None and with_metadata:
        extras["metadata"] = one.metadata
    return extras


def file(one: File) -> Json:
    return {
        "id": one.id,
        "name": one.name,
        "title": one.name,
        "mimetype": one.mimetype,
        "filetype": one.name.rpartition(".")[2],
        "user": one.user,
        "size": len(one.data),
        "mode": "hosted",
        "is_external": False,
        "url_private": one.url_private,
    }


def _parent(world: World, one: Message) -> str:
    root = world.messages.get((one.channel, one.thread_ts))
    return root.user if root else ""


def _rich_text(one: Message) -> list[Json]:
    """Return the blocks that Slack's own clients send beside the text."""
    if not one.text:
        return []
    section = {"type": "rich_text_section", "elements": list(_elements(one.text))}
    return [{"type": "rich_text", "block_id": "b", "elements": [section]}]


def _elements(text: str) -> Iterator[Json]:
    plain, *others = SEQUENCE.split(text)
    yield from _plain(plain)
    for found, after in zip(others[::2], others[1::2], strict=True):
        target, _, label = found.partition("|")
        match target[0]:
            case "@":
                yield {"type": "user", "user_id": target[1:]}
            case "#":
                yield {"type": "channel", "channel_id": target[1:]}
            case "!":
                yield {"type": "broadcast", "range": target[1:]}
            case _:
                labelled = {"text": html.unescape(label)} if label else {}
                yield {"type": "link", "url": html.unescape(target), **labelled}
        yield from _plain(after)


def _plain(text: str) -> Iterator[Json]:
    if text:
        yield {"type": "text", "text": html.unescape(text)}
