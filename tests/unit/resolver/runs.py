"""A run that works, for tests of what is said about it."""

from datetime import UTC, datetime

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Limits, Task, Usage
from patchwright.resolver.messages.answers import OpenRun
from patchwright.resolver.messages.status import MessageHeader, Progress

HANDLE = "@patchwright"
USAGE = Usage(cost_usd=0.41, tokens_in=12_345, tokens_out=678, tokens_cached=9_000)
FRAME = MessageHeader(
    run_id="0f9e",
    requester="alice",
    handle=HANDLE,
    model="m",
    limits=Limits(),
    asked_at=datetime(2026, 1, 31, 14, 2, 11, tzinfo=UTC),
)
TRIGGER = Trigger(
    key="k",
    kind=TriggerKind.COMMENT_MENTION,
    actor=Actor(service="github", login="alice"),
    thread=ForgeThread(
        repo=RepoRef(forge="github", full_name="acme/shop"),
        kind=ThreadKind.ISSUE,
        number=1,
    ),
    request="fix it",
)
RUNNING = OpenRun(
    frame=FRAME,
    trigger=TRIGGER,
    admitted="alice has write access",
    task=Task(text="", base_sha="abcdef0123456789", base_branch="main"),
    progress=Progress(
        state="running",
        done=("Checked out",),
        doing="Step 4: `make`",
        iterations=4,
        usage=USAGE,
        more_cost_usd=2.0,
        seconds=130,
    ),
)
