"""A small issue, and a request in it, to make briefs of."""

import re
from datetime import UTC, datetime, timedelta

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    Thread,
    ThreadKind,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.context.brief import Brief
from patchwright.resolver.context.brief import write_brief as brief_context
from patchwright.resolver.context.context import Context

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ISSUE = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"),
    kind=ThreadKind.ISSUE,
    number=7,
)
ALICE = Actor(service="github", login="alice")


def post(number: int, text: str, author: str = "alice") -> ThreadPost:
    """Make the post of that minute."""
    return ThreadPost(
        id=str(number),
        author=Actor(service="github", login=author),
        text=text,
        at=NOON + timedelta(minutes=number),
    )


def thread(*texts: str, title: str = "Wrong sum") -> Thread:
    posts = tuple(post(number, text) for number, text in enumerate(texts))
    return Thread(ref=ISSUE, title=title, url="https://example.com/7", posts=posts)


def trigger(**fields: str) -> Trigger:
    kind = TriggerKind.COMMENT_MENTION
    found = {"request": "fix the sum", **fields}
    return Trigger(key="k", kind=kind, actor=ALICE, thread=ISSUE, **found)


def brief(said: Thread, asked: Trigger, base_branch: str) -> Brief:
    return brief_context(Context(thread=said), asked, base_branch)


def unmarked(text: str) -> str:
    """Replace the fences' marks, which depend on the text between them."""
    return re.sub(r"data-[0-9a-f]{12}", "data", text)
