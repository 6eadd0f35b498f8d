"""A process that appends to a conversation: `append_many URL CONVERSATION COUNT`."""

import sys
from contextlib import closing

from patchwright.core.events.actions import Message
from patchwright.core.events.payload import Source
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.notifier import open_notifier


def main(url: str, conversation_id: str, count: str) -> None:
    with closing(Database(url)) as database, open_notifier(database) as notifier:
        store = EventStore(database, lambda tree: tree, SystemClock(), notifier)
        log = store.open(ConversationId(conversation_id))
        for number in range(int(count)):
            log.append(Source.SYSTEM, Message(text=f"other {number}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
