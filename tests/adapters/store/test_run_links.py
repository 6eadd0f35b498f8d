"""A link opens its run until it expires or is taken back, and only with a row."""

import hmac
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from patchwright.core.types.base import JobId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import account_audit, run_links
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.notifier import open_notifier
from patchwright.workers.store.run_links import (
    MAX_OPEN_LINKS,
    RUN_LINK_LIFETIME,
    LinkActor,
    RunLink,
    RunLinkStore,
)
from tests.adapters.store.world import World

SECRET = b"correct horse battery staple"
ALICE = LinkActor(key="account:a1", name="alice", account_id="a1")
BOB = LinkActor(key="account:b2", name="bob", account_id="b2")
SOON_S = 10.0


@pytest.fixture
def links(world: World) -> RunLinkStore:
    return links_of(world)


def links_of(world: World, secret: bytes | None = SECRET) -> RunLinkStore:
    return RunLinkStore(
        database=world.database,
        ids=RandomIds(),
        clock=world.clock,
        secret=secret,
        public_url="https://bot.test",
        notify=world.notifier.notify,
    )


def key_of(url: str) -> str:
    return url.partition("?key=")[2]


def share(links: RunLinkStore, world: World, job_id: JobId) -> tuple[RunLink, str]:
    link = links.make(world.job(job_id), ALICE)
    assert link is not None
    return link, key_of(links.url_of(link))


def test_a_link_opens_its_run_and_no_other(world: World, links: RunLinkStore) -> None:
    job_id = world.ask()
    link, key = share(links, world, job_id)
    assert links.url_of(link) == f"https://bot.test/runs/{job_id}?key={key}"
    assert links.find(job_id, key) == link
    assert links.find("0" * 32, key) is None
    forged = key[:-1] + ("0" if key[-1] != "0" else "1")
    for wrong in ("", "x", forged, key.upper(), f"{key}\n", link.id):
        assert links.find(job_id, wrong) is None
    assert links_of(world, b"another").find(job_id, key) is None
    assert links_of(world, None).find(job_id, key) is None


def test_a_link_expires(world: World, links: RunLinkStore) -> None:
    job_id = world.ask()
    link, key = share(links, world, job_id)
    world.clock.advance(RUN_LINK_LIFETIME.total_seconds() - 1)
    assert links.find(job_id, key) == link
    assert links.open_of(job_id) == (link,)
    world.clock.advance(1)
    assert links.find(job_id, key) is None
    assert links.open_of(job_id) == ()
    assert links.still_open([link.id]) == frozenset()


def test_a_link_that_was_taken_back_opens_nothing(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    first, first_key = share(links, world, job_id)
    world.clock.advance(5)
    second, second_key = share(links, world, job_id)
    assert links.open_of(job_id) == (second, first)
    (taken,) = links.revoke(world.job(job_id), [first.id], BOB)
    assert taken.revoked_at == world.clock.now()
    assert links.find(job_id, first_key) is None
    assert links.find(job_id, second_key) == second
    assert links.open_of(job_id) == (second,)
    assert links.still_open([first.id, second.id, "x"]) == {second.id}
    assert links.load(first.id) == taken
    assert links.revoke(world.job(job_id), [first.id, "x"], BOB) == ()


def test_a_link_is_taken_back_for_its_own_run_alone(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    link, key = share(links, world, job_id)
    other = world.job(job_id).replace(id=JobId("0" * 32))
    assert links.revoke(other, [link.id], ALICE) == ()
    assert links.find(job_id, key) == link


def test_no_row_has_a_key(world: World, links: RunLinkStore) -> None:
    job_id = world.ask()
    link, key = share(links, world, job_id)
    own = key_of(links.own_url(job_id, world.job(job_id).created_at))
    assert len(world.rows(run_links)) == 2
    told = str([*world.rows(run_links), *world.rows(account_audit)])
    assert link.id in told
    for one in (key, own):
        assert one.partition("-")[2] not in told


def test_the_audit_tells_who_shared_and_who_took_back(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    link, _ = share(links, world, job_id)
    links.own_url(job_id, world.job(job_id).created_at)
    world.clock.advance(1)
    links.revoke(world.job(job_id), [link.id], BOB)
    world.clock.advance(1)
    links.revoke(world.job(job_id), [job_id, link.id], BOB)
    until = f"{link.expires_at:%Y-%m-%d %H:%M} UTC"
    names = ("what", "account_id", "by", "identity", "detail")
    rows = sorted(world.rows(account_audit), key=lambda row: str(row["at"]))
    run = f"run {job_id[:8]}"
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("run-shared", "a1", ALICE.key, run, f"link {link.id[:8]}, until {until}"),
        ("run-link-revoked", "b2", BOB.key, run, f"link {link.id[:8]}, made by alice"),
        (
            "run-link-revoked",
            "b2",
            BOB.key,
            run,
            f"link {job_id[:8]}, made by Patchwright",
        ),
    ]


def test_the_same_word_is_the_same_link(world: World, links: RunLinkStore) -> None:
    job = world.job(world.ask())
    first = links.make(job, ALICE, "word")
    assert first is not None
    assert links.make(job, ALICE, "word") == first
    others = (links.make(job, BOB, "word"), links.make(job, ALICE), None)
    assert first not in others
    (taken,) = links.revoke(job, [first.id], ALICE)
    # Sent once more, it does not open the run again.
    assert links.make(job, ALICE, "word") == taken


def test_a_run_has_so_many_open_links_and_no_more(
    world: World, links: RunLinkStore
) -> None:
    job = world.job(world.ask())
    made = [links.make(job, ALICE) for _ in range(MAX_OPEN_LINKS)]
    assert None not in made
    assert links.make(job, ALICE) is None
    links.revoke(job, [one.id for one in made[:1] if one], ALICE)
    assert links.make(job, ALICE) is not None


# The service's own link


def test_the_own_link_is_the_same_until_it_is_taken_back(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    made = world.job(job_id).created_at
    url = links.own_url(job_id, made)
    assert links_of(world).own_url(job_id, made) == url
    (link,) = links.open_of(job_id)
    assert (link.maker, link.expires_at) == ("", made + timedelta(days=30))
    assert links.find(job_id, key_of(url)) == link
    links.revoke(world.job(job_id), [link.id], ALICE)
    assert links.find(job_id, key_of(url)) is None
    # It is neither made anew nor given to anybody again.
    assert links.own_url(job_id, made) == f"https://bot.test/runs/{job_id}"
    assert links.open_of(job_id) == ()


def test_the_own_link_of_an_old_run_is_its_address(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    made = world.job(job_id).created_at
    world.clock.advance(RUN_LINK_LIFETIME.total_seconds())
    assert links.own_url(job_id, made) == links.address_of(job_id)
    assert world.rows(run_links) == []


def test_without_a_secret_there_are_no_links(world: World) -> None:
    links, job_id = links_of(world, None), world.ask()
    assert not links.can_make
    assert links.own_url(job_id, world.clock.now()) == links.address_of(job_id) == ""
    assert world.rows(run_links) == []


# What was signed before there were rows


def test_a_link_from_before_opens_nothing(world: World, links: RunLinkStore) -> None:
    job_id = world.ask()
    links.own_url(job_id, world.job(job_id).created_at)
    expires = int(world.clock.now().timestamp()) + 1_000_000
    signing = hmac.digest(SECRET, b"link to a run", "sha256")
    signed = hmac.digest(signing, f"{expires} {job_id}".encode(), "sha256").hex()
    assert links.find(job_id, f"{expires}-{signed}") is None


def test_a_link_without_a_row_opens_nothing(world: World, links: RunLinkStore) -> None:
    job_id = world.ask()
    now = world.clock.now()
    lost = RunLink(id="lost", job_id=job_id, created_at=now, expires_at=now)
    assert links.find(job_id, key_of(links.url_of(lost))) is None
    assert links.still_open(["lost"]) == frozenset()


def test_the_migration_keeps_runs_and_has_no_links(empty_database_url: str) -> None:
    with closing(Database(empty_database_url)) as database:
        upgrade(database, "0018")
        with database.writing() as connection:
            connection.exec_driver_sql(
                "INSERT INTO conversations (id, repo, title, created_at) "
                "VALUES ('c', 'acme/shop', 'It is broken', '2026-01-02 03:04:05')"
            )
            connection.exec_driver_sql(
                "INSERT INTO jobs (id, conversation_id, state, trigger, created_at) "
                "VALUES ('j', 'c', 'done', '{}', '2026-01-02 03:04:05')"
            )
        upgrade(database)
        with database.reading() as connection:
            jobs = connection.exec_driver_sql("SELECT id FROM jobs").all()
            links = connection.exec_driver_sql("SELECT id FROM run_links").all()
    assert [tuple(row) for row in jobs] == [("j",)]
    assert links == []


# Those who watch


@contextmanager
def another_process(world: World) -> Iterator[RunLinkStore]:
    url = world.database.engine.url.render_as_string(hide_password=False)
    with closing(Database(url)) as database, open_notifier(database) as notifier:
        yield RunLinkStore(
            database=database,
            ids=RandomIds(),
            clock=world.clock,
            secret=SECRET,
            public_url="https://bot.test",
            notify=notifier.notify,
        )


def test_who_watches_in_another_process_is_woken(
    world: World, links: RunLinkStore
) -> None:
    job_id = world.ask()
    link, _ = share(links, world, job_id)
    job = world.job(job_id)
    with (
        another_process(world) as there,
        open_notifier(world.database) as here,
        here.listen(job.conversation_id) as wakeup,
    ):
        wakeup.clear()
        assert there.revoke(job, [link.id], BOB)
        assert wakeup.wait(SOON_S)
