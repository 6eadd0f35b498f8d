"""What one process appends is heard at once in the others."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event as Bell

import pytest
from sqlalchemy import text

from patchwright.core.events.actions import Message
from patchwright.core.events.log import Notifier
from patchwright.core.events.payload import Source
from patchwright.core.types.base import ConversationId, JobId, RandomIds
from patchwright.core.webhook import DeliveryVerdict
from patchwright.workers.db.database import Database
from patchwright.workers.db.notifications import NotificationFolder
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.notifier import (
    NotificationListener,
    NotificationSource,
    open_notifier,
)
from tests.adapters.store.world import World, trigger
from tests.provision.starter import ready_starter

SOON_S = 10.0


@pytest.fixture
def conversation(world: World) -> ConversationId:
    return world.conversation(world.ask())


@contextmanager
def another_process(world: World) -> Iterator[EventStore]:
    """Open what a process of its own would have: a database and a doorbell."""
    url = world.database.engine.url.render_as_string(hide_password=False)
    with closing(Database(url)) as database, open_notifier(database) as notifier:
        yield EventStore(database, lambda tree: tree, world.clock, notifier)


def say(store: EventStore, conversation_id: ConversationId) -> None:
    store.open(conversation_id).append(Source.USER, Message(text="hello"))


def heard_by_now(wakeup: Bell) -> bool:
    heard = wakeup.wait(SOON_S)
    wakeup.clear()
    return heard


def test_what_another_process_appends_rings_here(
    world: World, conversation: ConversationId
) -> None:
    with (
        another_process(world) as here,
        another_process(world) as there,
        here.open(conversation).listen() as wakeup,
    ):
        say(there, conversation)
        assert heard_by_now(wakeup)


def test_it_rings_for_that_conversation_only(
    world: World, conversation: ConversationId
) -> None:
    with another_process(world) as here, another_process(world) as there:
        other = here.open(ConversationId("another")).listen()
        with here.open(conversation).listen() as wakeup, other as theirs:
            say(there, conversation)
            assert heard_by_now(wakeup)
            assert not theirs.is_set()


def test_a_process_that_ends_is_heard_to_its_last_event(
    world: World, conversation: ConversationId
) -> None:
    url = world.database.engine.url.render_as_string(hide_password=False)
    writer = ("tests.adapters.store.append_many", url, conversation, "3")
    with another_process(world) as here, here.open(conversation).listen() as wakeup:
        assert ready_starter().start_module(*writer).wait(30) == 0
        assert heard_by_now(wakeup)


def test_a_request_that_joins_a_run_reaches_a_worker_elsewhere(world: World) -> None:
    conversation = world.conversation(world.ask())
    dispatched: list[JobId] = []
    with another_process(world) as web, another_process(world) as worker:
        recorder = Recorder(web, RandomIds())
        with (
            Inbox(web.database, recorder, dispatched.append) as inbox,
            worker.open(conversation).listen() as wakeup,
        ):
            delivery = world.delivery(trigger("k2", "and this"))
            stored = inbox.submit(delivery).result(SOON_S)
            assert stored.verdict is DeliveryVerdict.JOINED
            assert heard_by_now(wakeup)


def test_a_listening_connection_that_is_cut_is_made_again(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        upgrade(database)
        world = World(database)
        conversation = world.conversation(world.ask())
        with another_process(world) as here, here.open(conversation).listen() as wakeup:
            assert cut_listeners(database) == 1
            # Twice: when the line breaks, and when there is one again.
            assert heard_by_now(wakeup)
            assert heard_by_now(wakeup)
            say(world.events, conversation)
            assert heard_by_now(wakeup)


def cut_listeners(database: Database) -> int:
    cut = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )
    with database.reading() as connection:
        return len(connection.execute(cut).all())


def test_while_nothing_can_be_heard_everybody_looks_again_and_again() -> None:
    notifier = Notifier()

    def fail() -> NotificationSource:
        raise ConnectionResetError

    @contextmanager
    def broken() -> Iterator[NotificationSource]:
        yield fail()

    with (
        notifier.listen(ConversationId("c1")) as wakeup,
        NotificationListener(notifier, broken, (OSError,)),
    ):
        assert heard_by_now(wakeup)
        assert heard_by_now(wakeup)


def test_the_socket_of_a_dead_process_is_taken_away(tmp_path: Path) -> None:
    with NotificationFolder(tmp_path / "bells") as folder:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
            dead.bind(str(tmp_path / "bells" / "dead"))
        with folder.listen("alive") as alive:
            folder.send("c1", apart_from="me")
            assert alive.take() == frozenset({"c1"})
        assert list((tmp_path / "bells").iterdir()) == []


def test_a_process_that_does_not_listen_holds_up_nobody(tmp_path: Path) -> None:
    with (
        NotificationFolder(tmp_path / "bells") as folder,
        folder.listen("busy") as busy,
        folder.listen("ready") as ready,
    ):
        for number in range(2_000):
            folder.send(f"c{number}", apart_from="me")
            assert ready.take() == frozenset({f"c{number}"})
        # Not all of them fitted, so it must look at everything.
        assert busy.take() is None
        assert busy.take() == frozenset()


def test_who_rings_does_not_hear_itself(tmp_path: Path) -> None:
    with NotificationFolder(tmp_path / "bells") as folder, folder.listen("me") as mine:
        folder.send("c1", apart_from="me")
        assert mine.take() == frozenset()


def test_a_folder_deeper_than_a_socket_address_is_long_serves_too(
    tmp_path: Path,
) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    with NotificationFolder(deep / "bells") as folder, folder.listen("other") as other:
        folder.send("c1", apart_from="me")
        assert other.take() == frozenset({"c1"})
    assert list((deep / "bells").iterdir()) == []
