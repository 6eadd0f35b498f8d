"""Other threads, tickets and single people are told how a run ended."""

from dataclasses import replace

import pytest

from patchwright.core.channel import ChannelRouter, Offer
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, Repository
from patchwright.integrations.git.mirror import Mirror
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish import notifications
from patchwright.resolver.publish.destination import (
    CrossPostTarget,
    Destination,
    Invitation,
    PublisherDependencies,
)
from patchwright.resolver.publish.effects import (
    AskPrivately,
    AttachLink,
    CrossPost,
    Invite,
    MoveTicket,
)
from tests.adapters.jira.conftest import Scene as JiraScene
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack
from tests.unit.resolver.endings import FRAME, ORIGIN, proven

PULL = "https://github.test/acme/shop/pull/8"
OPENED = DeliveryResult(pull_request=8, pull_request_url=PULL)
LINK = Offer(words="Link with GitHub", url="https://bot.test/link/abc")


def fetch_nothing() -> Mirror:
    raise AssertionError("no commit is needed")


@pytest.fixture
def dependencies(
    github: GitHub, channel_router: ChannelRouter
) -> PublisherDependencies:
    return PublisherDependencies(
        github.forge,
        channel_router,
        github.channel,
        fetch_nothing,
        invite=lambda actor: Invitation(text=f"Who is {actor.login}?", offers=(LINK,)),
        renew=lambda actor: Invitation(text=f"Again, {actor.login}", offers=(LINK,)),
    )


@pytest.fixture
def to(fake: FakeSlack, office: Office) -> Destination:
    """Return where a run goes that Ann has asked for in a channel."""
    root = fake.mention(office.ann, office.channel, "fix it")
    shop = RepoRef(forge="github", full_name="acme/shop")
    return Destination(
        repository=Repository(
            ref=shop, default_branch="trunk", clone_url="", web_url="", private=True
        ),
        thread=office.thread(root),
        requester=Actor(service="github", login="alice"),
        asked_by=office.actor(office.ann),
        status_post="",
        origin=ORIGIN,
        frame=FRAME,
    )


def test_a_ticket_gets_one_short_message(
    to: Destination, dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    told = CrossPostTarget(thread=jira.ref, shows_words=True, handle="@bot")
    to = replace(to, mirrors=(told,))
    effect = CrossPost(thread=jira.ref)
    for so_far in (DeliveryResult(), OPENED):
        assert (
            notifications.cross_post(effect, proven(), to, dependencies, so_far)
            == so_far
        )
    [_, said] = dependencies.channel.fetch_thread(jira.ref).posts
    assert said.text.startswith("**Done, proven**")
    assert f"[pull request #8]({PULL})" in said.text


def test_a_thread_that_was_tied_only_now_is_told_as_well(
    to: Destination, dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    effect = CrossPost(thread=jira.ref)
    notifications.cross_post(effect, proven(), to, dependencies, DeliveryResult())
    assert len(jira.fake.comments(jira.key)) == 1


def test_a_pull_request_is_shown_beside_the_ticket_once(
    to: Destination, dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    effect = AttachLink(thread=jira.ref)
    notifications.attach_link(effect, proven(), to, dependencies, DeliveryResult())
    assert jira.fake.remote_links(jira.key) == []
    for _ in range(2):
        notifications.attach_link(effect, proven(), to, dependencies, OPENED)
    [link] = jira.fake.remote_links(jira.key)
    assert (link.url, link.title) == (PULL, "acme/shop#8: Count every piece")


def test_a_ticket_moves_once_there_is_a_pull_request(
    dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    effect = MoveTicket(thread=jira.ref, status="In Progress")
    notifications.move_ticket(effect, dependencies, DeliveryResult())
    assert jira.fake.issue(jira.key).status == "To Do"
    assert notifications.move_ticket(effect, dependencies, OPENED) == OPENED
    assert jira.fake.issue(jira.key).status == "In Progress"


def test_a_ticket_moves_without_one_where_that_is_asked_for(
    dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    effect = MoveTicket(thread=jira.ref, status="Done", with_pull=False)
    notifications.move_ticket(effect, dependencies, DeliveryResult())
    assert jira.fake.issue(jira.key).status == "Done"


def test_a_ticket_that_cannot_move_is_told(
    dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    effect = MoveTicket(thread=jira.ref, status="On Mars")
    [remark] = notifications.move_ticket(effect, dependencies, OPENED).remarks
    assert remark.startswith("APP-1 stays where it is: ")
    assert "On Mars" in remark


def test_the_requester_is_asked_alone(
    to: Destination,
    dependencies: PublisherDependencies,
    fake: FakeSlack,
    office: Office,
) -> None:
    asked = AskPrivately(text="Which repository?", offers=(LINK,))
    notifications.ask_privately(asked, to, dependencies, DeliveryResult())
    [seen] = fake.ephemerals(office.ann)
    assert seen.shown == "Which repository?\nLink with GitHub"
    assert fake.ephemerals(office.bob) == []


def test_an_invitation_is_made_when_it_is_sent(
    to: Destination,
    dependencies: PublisherDependencies,
    fake: FakeSlack,
    office: Office,
) -> None:
    notifications.send_invitation(Invite(), to, dependencies, DeliveryResult())
    [seen] = fake.ephemerals(office.ann)
    assert seen.shown == f"Who is {office.ann}?\nLink with GitHub"


def test_who_must_show_it_again_is_told_so(
    to: Destination,
    dependencies: PublisherDependencies,
    fake: FakeSlack,
    office: Office,
) -> None:
    notifications.send_invitation(
        Invite(renews=True), to, dependencies, DeliveryResult()
    )
    [seen] = fake.ephemerals(office.ann)
    assert seen.shown == f"Again, {office.ann}\nLink with GitHub"


def test_where_nobody_may_be_invited_nothing_is_said(
    to: Destination,
    dependencies: PublisherDependencies,
    fake: FakeSlack,
    office: Office,
) -> None:
    silent = replace(dependencies, invite=lambda _actor: None)
    assert notifications.send_invitation(Invite(), to, silent, OPENED) == OPENED
    assert fake.ephemerals(office.ann) == []


def test_without_a_private_way_that_is_said_once_and_no_secret(
    to: Destination, dependencies: PublisherDependencies, jira: JiraScene
) -> None:
    jira.fake.stop_mail()
    ticket = replace(to, thread=jira.ref, asked_by=jira.actor)
    for _ in range(2):
        notifications.send_invitation(Invite(), ticket, dependencies, DeliveryResult())
    [_, said] = dependencies.channel.fetch_thread(jira.ref).posts
    assert "I have a private question for you, but I cannot send" in said.text
    assert "bot.test/link" not in said.text
