"""Who an actor is by the map, and what people are told about linking."""

import pytest

from patchwright.core.types.people import Actor
from patchwright.workers.plugins.people import (
    display_name,
    invitation_offers,
    invitation_text,
    link_address,
    mapped_person,
    renewal_text,
    service_name,
    too_many_links_text,
    workspace_name,
)

JO = Actor(service="slack", login="jo", external_id="U1", host="T1")
KIM = Actor(service="jira", login="Kim", external_id="5b10", host="acme.atlassian.net")
MAP = (
    {"slack": "U1", "github": "alice"},
    {"jira": "5b10", "github": "@kim"},
    {"slack": "T2/U2", "github": "bob"},
)


def at_home(actor: Actor) -> bool:
    return actor.host in (JO.host, KIM.host)


@pytest.mark.parametrize(
    ("actor", "login"),
    [
        (JO, "alice"),
        (KIM, "kim"),
        (JO.replace(external_id="U2", host="T2"), "bob"),
    ],
)
def test_the_map_says_who_somebody_is(actor: Actor, login: str) -> None:
    assert mapped_person(MAP, actor, at_home, "github") == Actor(
        service="github", login=login
    )


@pytest.mark.parametrize(
    "actor",
    [
        JO.replace(external_id="U2"),
        JO.replace(external_id="u1"),
        JO.replace(service="jira"),
        Actor(service="slack", login="U1", host="T1"),
        Actor(service="jira", login="5b10", external_id="6c11", host=KIM.host),
        Actor(service="github", login="alice", external_id="1"),
    ],
    ids=["place", "case", "service", "no-id", "name-like-an-id", "forge"],
)
def test_nobody_else_is_taken_for_them(actor: Actor) -> None:
    assert mapped_person(MAP, actor, at_home, "github") is None


def test_an_id_without_a_workspace_is_nobodys_of_another_workspace() -> None:
    stranger = JO.replace(host="T9")
    assert mapped_person(MAP, stranger, at_home, "github") is None


def test_the_first_entry_of_the_map_counts() -> None:
    again = (*MAP, {"slack": "U1", "github": "mallory"})
    assert mapped_person(again, JO, at_home, "github") == Actor(
        service="github", login="alice"
    )


def test_an_invitation_has_the_link_and_its_limits() -> None:
    link = link_address("https://bot.example.com", "abc")
    assert link == "https://bot.example.com/link/abc"
    text = invitation_text(JO, link, "GitHub")
    assert f"({link})" in text
    assert "15 minutes" in text
    assert "Slack" in text
    (offer,) = invitation_offers(link, "GitHub")
    assert (offer.words, offer.url, offer.command) == ("Link with GitHub", link, "")
    assert link in renewal_text(link, "GitHub")


def test_a_name_that_somebody_chose_is_in_no_message() -> None:
    bad = JO.replace(login="<!channel> [x](https://evil.example)")
    for text in (
        invitation_text(bad, "https://b/link/t", "GitHub"),
        too_many_links_text(bad),
    ):
        assert "evil" not in text


def test_names_are_shown_as_they_read() -> None:
    sly = JO.replace(login="al\u202eice\u200b \n x" + "y" * 200)
    assert display_name(sly).startswith("alice xy")
    assert len(display_name(sly)) == 80
    assert display_name(JO.replace(login="\u200b")) == "U1"
    assert (workspace_name(JO), workspace_name(KIM)) == ("workspace T1", KIM.host)
    assert workspace_name(Actor(service="github", login="a")) == ""
    assert (service_name("slack"), service_name("other")) == ("Slack", "other")
