"""People are who an administrator says, or who they have shown they are."""

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.people import Actor
from patchwright.integrations.github.plugin import describe
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.compose import ConnectedSlack
from patchwright.integrations.slack.tokens import StaticBotToken
from patchwright.workers.plugins.people import PersonDirectory
from patchwright.workers.store.account_links import MAX_INVITATIONS_PER_HOUR, digest_of
from tests.adapters.slack.conftest import Office
from tests.adapters.store.linking_world import JO, Linking
from tests.adapters.talk.conftest import people_of, settings_of
from tests.fakes.slack.fake import FakeSlack

ALICE = Actor(service="github", login="alice", external_id="1")
MAP = '[{"slack": "T1/U1", "github": "mallory"}]'


def test_somebody_on_the_forge_is_who_they_are(people: PersonDirectory) -> None:
    assert people.find(ALICE) == ALICE


def test_nobody_is_known_before_they_have_shown_it(
    people: PersonDirectory, linking: Linking
) -> None:
    assert people.find(JO) is None
    linking.link(ALICE)
    found = people.find(JO)
    assert found is not None
    assert (found.login, found.external_id) == ("alice", "1")


def test_the_administrators_word_counts_before_theirs(linking: Linking) -> None:
    linking.link(ALICE)
    found = people_of(linking, settings_of(ACCOUNTS__MAP=MAP)).find(JO)
    assert found == Actor(service="github", login="mallory")


@pytest.mark.parametrize(
    ("is_from_own_site", "login"), [(True, "mallory"), (False, "")]
)
def test_an_id_alone_counts_where_they_are_at_home(
    linking: Linking, login: str, *, is_from_own_site: bool
) -> None:
    bare = settings_of(ACCOUNTS__MAP='[{"slack": "U1", "github": "mallory"}]')
    people = PersonDirectory(
        bare,
        linking.accounts,
        linking.links,
        describe(bare),
        is_from_own_site=lambda _: is_from_own_site,
    )
    found = people.find(JO)
    assert (found.login if found else "") == login


@pytest.mark.parametrize(
    "missing", ["GITHUB__CLIENT_ID", "GITHUB__CLIENT_SECRET", "SERVER__PUBLIC_URL"]
)
def test_without_a_page_to_show_it_nobody_is_invited(
    linking: Linking, missing: str
) -> None:
    people = people_of(linking, settings_of(**{missing: ""}))
    assert not people.can_invite
    assert people.invite(JO) is None


def test_an_invitation_leads_to_who_was_invited(
    people: PersonDirectory, linking: Linking
) -> None:
    invitation = people.invite(JO)
    assert invitation is not None
    [offer] = invitation.offers
    assert offer.words == "Link with GitHub"
    assert f"]({offer.url})" in invitation.text
    address, _, token = offer.url.rpartition("/")
    assert address == "https://bot.test/link"
    assert linking.request(digest_of(token)).actor == JO


def test_who_has_shown_it_before_is_told_why_they_must_again(
    people: PersonDirectory, linking: Linking
) -> None:
    again = people.renew(JO)
    assert again is not None
    assert again.text.startswith("GitHub does not show me your repositories")
    assert (
        linking.request(digest_of(again.offers[0].url.rpartition("/")[2])).actor == JO
    )


def test_who_gets_no_more_links_hears_that_once(people: PersonDirectory) -> None:
    links = [people.invite(JO) for _ in range(MAX_INVITATIONS_PER_HOUR)]
    assert all(one is not None and one.offers for one in links)
    told = people.invite(JO)
    assert told is not None
    assert told.offers == ()
    assert told.text == (
        "You got several links in the last hour. Please open the newest one in Slack, "
        "or ask again in an hour."
    )
    assert people.invite(JO) is None


def test_whoever_is_invited_is_called_by_their_name(linking: Linking) -> None:
    def named(actor: Actor) -> Actor:
        return actor.replace(login="Jo Miller")

    people = PersonDirectory(
        settings_of(), linking.accounts, linking.links, describe(settings_of()), named
    )
    invitation = people.invite(JO.replace(login="U1"))
    assert invitation is not None
    token = invitation.offers[0].url.rpartition("/")[2]
    assert linking.request(digest_of(token)).actor.login == "Jo Miller"


def test_a_persons_choices_are_theirs_alone(people: PersonDirectory) -> None:
    bob = Actor(service="github", login="bob", external_id="2")
    renamed = ALICE.replace(login="alice-2")
    own = people.scope_of(ALICE)
    assert own.startswith("account:")
    assert people.scope_of(renamed) == own
    assert people.scope_of(bob) != own


def test_an_id_alone_means_somebody_of_the_workspace_that_is_served(
    fake: FakeSlack, office: Office, linking: Linking
) -> None:
    served = _slack_side(fake, linking, SLACK__BOT_TOKEN=office.token)
    ann = Actor(service="slack", login="a", external_id=office.ann, host=office.team)
    assert served.is_from_own_site(ann)
    assert not served.is_from_own_site(ann.replace(host="T9"))


def test_where_workspaces_install_the_app_an_id_alone_means_nobody(
    fake: FakeSlack, office: Office, linking: Linking
) -> None:
    installed = _slack_side(fake, linking, SLACK__CLIENT_ID="1.2")
    ann = Actor(service="slack", login="a", external_id=office.ann, host=office.team)
    assert not installed.is_from_own_site(ann)


def _slack_side(fake: FakeSlack, linking: Linking, **settings: str) -> ConnectedSlack:
    read = settings_of(SLACK__API_URL=fake.api_url, **settings)
    tokens = StaticBotToken(SecretStr(settings.get("SLACK__BOT_TOKEN", "xoxb-none")))
    slack = connect(fake.api_url, tokens=tokens, clock=SystemClock())
    return ConnectedSlack(slack, read, linking.linker.secrets)
