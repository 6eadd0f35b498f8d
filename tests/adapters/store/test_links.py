"""Invitations to link: who has one, in which browser, and for how long."""

import pytest

from patchwright.core.types.people import Actor
from patchwright.workers.db.tables import link_requests
from patchwright.workers.store.account_links import (
    MAX_INVITATIONS_PER_HOUR,
    LinkRequest,
    LinkStatus,
    LinkStore,
    digest_of,
)
from tests.adapters.store.world import World

JO = Actor(service="slack", login="jo", external_id="U1", host="T1")
KIM = Actor(service="jira", login="kim", host="jira.example.com")
MINUTE_S = 60


@pytest.fixture
def links(world: World) -> LinkStore:
    return LinkStore(world.database, world.clock)


def invite(links: LinkStore, actor: Actor = JO) -> str:
    """Return the digest of a new link."""
    token = links.invite(actor)
    assert token is not None
    return digest_of(token)


def found(links: LinkStore, digest: str) -> LinkRequest:
    request = links.find(digest)
    assert request is not None
    return request


def test_a_link_says_who_was_invited(links: LinkStore) -> None:
    assert found(links, invite(links)).actor == JO
    assert found(links, invite(links, KIM)).actor == KIM


def test_the_word_of_a_link_is_random_and_not_in_the_database(
    world: World, links: LinkStore
) -> None:
    tokens = {str(links.invite(actor)) for actor in (JO, KIM)}
    assert {len(token) for token in tokens} == {43}
    rows = str(world.rows(link_requests))
    assert not [token for token in tokens if token in rows]


def test_a_newer_link_takes_the_place_of_the_older_one(links: LinkStore) -> None:
    old, other = invite(links), invite(links, KIM)
    new = invite(links)
    assert links.find(old) is None
    assert found(links, new).standing is LinkStatus.OPEN
    assert found(links, other).standing is LinkStatus.OPEN
    assert not links.begin(old, "b", "s")


def test_a_newer_link_knows_nothing_of_the_browser_of_the_older_one(
    links: LinkStore,
) -> None:
    assert links.begin(invite(links), "b1", "s")
    new = invite(links)
    assert found(links, new).browser is None
    assert links.begin(new, "b2", "s")


def test_a_link_counts_for_fifteen_minutes(world: World, links: LinkStore) -> None:
    digest = invite(links)
    world.clock.advance(15 * MINUTE_S - 1)
    assert found(links, digest).standing is LinkStatus.OPEN
    world.clock.advance(1)
    assert found(links, digest).standing is LinkStatus.EXPIRED
    assert not links.begin(digest, "b", "s")


def test_somebody_gets_only_so_many_links_within_an_hour(
    world: World, links: LinkStore
) -> None:
    given = [links.invite(JO) for _ in range(MAX_INVITATIONS_PER_HOUR)]
    assert None not in given
    assert links.count_refused(JO) == 0
    assert links.invite(JO) is None
    assert links.invite(JO) is None
    assert (links.count_refused(JO), links.count_refused(KIM)) == (2, 0)
    assert found(links, digest_of(str(given[-1]))).standing is LinkStatus.OPEN
    assert links.invite(KIM)
    world.clock.advance(60 * MINUTE_S)
    assert links.invite(JO)


def test_the_first_browser_that_begins_has_the_link(links: LinkStore) -> None:
    digest = invite(links)
    assert links.begin(digest, "b1", "s1")
    assert not links.begin(digest, "b2", "s2")
    assert links.begin(digest, "b1", "s3")
    assert not links.use_state(digest, "b1", "s1")
    assert links.use_state(digest, "b1", "s3")


def test_a_state_counts_once_in_its_browser_and_for_ten_minutes(
    world: World, links: LinkStore
) -> None:
    digest = invite(links)
    links.begin(digest, "b", "s")
    assert not links.use_state(digest, "other", "s")
    assert not links.use_state(digest, "b", "other")
    assert links.use_state(digest, "b", "s")
    assert not links.use_state(digest, "b", "s")
    links.begin(digest, "b", "late")
    world.clock.advance(10 * MINUTE_S)
    assert found(links, digest).standing is LinkStatus.OPEN
    assert not links.use_state(digest, "b", "late")
