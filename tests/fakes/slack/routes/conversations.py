"""Methods that read channels and threads, and open direct messages."""

from collections.abc import Sequence

from tests.fakes.slack.acts.places import open_direct
from tests.fakes.slack.call import HISTORY, Call, Method, RefusedError, method
from tests.fakes.slack.render.messages import message as rendered
from tests.fakes.slack.state import Json, Message

MAX_PAGE = 1_000
CURSOR = "next:"


def replies(call: Call) -> Json:
    channel = call.channel()
    call.needs(HISTORY[channel.kind])
    root = call.message(channel, call.text("ts"), "thread_not_found")
    thread = call.world.in_thread(channel.id, root.thread_ts or root.ts)
    first, rest = thread[:1], thread[1:]
    start = _start(call)
    limit = _limit(call)
    # The root is on each page.
    page = rest[start : start + limit - 1] if limit > 1 else []
    end = start + len(page)
    is_more = end < len(rest)
    return _page(call, [*first, *page], end if is_more else None)


def history(call: Call) -> Json:
    channel = call.channel()
    call.needs(HISTORY[channel.kind])
    tops = [one for one in call.world.in_channel(channel.id) if not one.is_reply]
    newest = list(reversed(tops))
    start, limit = _start(call), _limit(call)
    page = newest[start : start + limit]
    end = start + len(page)
    return _page(call, page, end if end < len(newest) else None)


def open_(call: Call) -> Json:
    user = call.text("users")
    if user not in call.world.people:
        raise RefusedError("user_not_found")
    if call.world.people[user].bot_id:
        raise RefusedError("cannot_dm_bot")
    channel = open_direct(call.world, call.bot, user)
    return {"ok": True, "channel": {"id": channel.id}}


def _page(call: Call, page: Sequence[Message], end: int | None) -> Json:
    is_wanted = call.text("include_all_metadata") in ("1", "true")
    is_shown = is_wanted and "metadata.message:read" in call.bot.scopes
    shown = [rendered(call.world, one, with_metadata=is_shown) for one in page]
    cursor = "" if end is None else f"{CURSOR}{end}"
    return {
        "ok": True,
        "messages": shown,
        "has_more": end is not None,
        "response_metadata": {"next_cursor": cursor},
    }


def _start(call: Call) -> int:
    cursor = call.text("cursor")
    number = cursor.removeprefix(CURSOR)
    if cursor and not number.isdecimal():
        raise RefusedError("invalid_cursor")
    return int(number or 0)


def _limit(call: Call) -> int:
    limit = call.number("limit", 100)
    if not 1 <= limit <= MAX_PAGE:
        raise RefusedError("invalid_limit")
    return limit


PAGED = "cursor limit include_all_metadata"
METHODS: dict[str, Method] = {
    "conversations.replies": method(replies, "channel ts", PAGED, takes_json=False),
    "conversations.history": method(history, "channel", PAGED, takes_json=False),
    "conversations.open": method(open_, "users", scope="im:write"),
}
