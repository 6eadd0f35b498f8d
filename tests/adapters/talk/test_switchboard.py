"""Each thread is read and written at its own service."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from patchwright.core.channel import ChannelRouter
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.jira.conftest import Scene as JiraScene
from tests.adapters.slack.conftest import Office
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.slack.fake import FakeSlack

SHOP = RepoRef(forge="github", full_name="acme/shop")
MARK = "<!-- patchwright:state=running run=7f3a -->"


@dataclass(frozen=True)
class Place:
    """A thread, whoever asks in it, and how people see what is there."""

    thread: ThreadRef
    asker: Actor
    said: Callable[[], list[str]]

    def trigger(self) -> Trigger:
        return Trigger(
            key="k",
            kind=TriggerKind.BODY_MENTION,
            actor=self.asker,
            thread=self.thread,
            request="fix it",
            installation=self.asker.host,
        )


@pytest.fixture(params=["github", "slack", "jira"])
def place(
    request: pytest.FixtureRequest,
    forge: FakeGitHub,
    fake: FakeSlack,
    office: Office,
    jira: JiraScene,
) -> Place:
    forge.add_user("ann")
    number = forge.open_issue("acme/shop", "ann", "Wrong sum", "It is off.")
    issue = ForgeThread(repo=SHOP, kind=ThreadKind.ISSUE, number=number)
    root = fake.mention(office.ann, office.channel, "Wrong sum")
    places = {
        "github": Place(
            issue,
            Actor(service="github", login="ann"),
            lambda: [one.body for one in forge.comments("acme/shop", number)],
        ),
        "slack": Place(
            office.thread(root),
            office.actor(office.ann),
            lambda: [one.shown for one in fake.thread(office.channel, root)[1:]],
        ),
        "jira": Place(
            jira.ref,
            jira.actor,
            lambda: [str(one.body) for one in jira.fake.comments(jira.key)],
        ),
    }
    return places[str(request.param)]


def test_what_is_said_is_said_there_and_edited_there(
    channel_router: ChannelRouter, place: Place
) -> None:
    post = channel_router.post(place.thread, f"Working on it\n\n{MARK}")
    assert channel_router.find_post(place.thread, MARK) == post
    channel_router.edit(place.thread, post, f"Nearly done\n\n{MARK}")
    [said] = place.said()
    assert "Nearly done" in said


def test_it_is_read_there(channel_router: ChannelRouter, place: Place) -> None:
    channel_router.post(place.thread, "Working on it")
    opening = channel_router.fetch_opening(place.thread)
    whole = channel_router.fetch_thread(place.thread)
    assert str(opening.ref) == str(whole.ref) == str(place.thread)
    assert [len(one.posts) for one in (opening, whole)] == [1, 2]


def test_requests_are_seen_and_declined_without_words(
    channel_router: ChannelRouter, place: Place
) -> None:
    channel_router.acknowledge(place.trigger())
    channel_router.decline(place.trigger())
    assert place.said() == []


def test_labels_are_put_where_there_are_any(
    channel_router: ChannelRouter, place: Place, jira: JiraScene
) -> None:
    channel_router.swap_labels(place.thread, ("bot:done",), ())
    labels = jira.fake.issue(jira.key).labels
    assert labels == (["bot:done"] if place.thread == jira.ref else [])


def test_a_file_of_another_service_is_not_fetched(
    channel_router: ChannelRouter, place: Place
) -> None:
    with pytest.raises((InvalidRequestError, NotFoundError)):
        channel_router.fetch_attachment(place.thread, "https://elsewhere.test/a", 10)


def test_one_person_is_told_alone(
    channel_router: ChannelRouter, office: Office, fake: FakeSlack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    thread, ann = office.thread(root), office.actor(office.ann)
    channel_router.tell_privately(thread, ann, "Link it")
    assert [one.shown for one in fake.ephemerals(office.ann)] == ["Link it"]


def test_each_board_is_that_of_its_service(
    channel_router: ChannelRouter, office: Office, jira: JiraScene
) -> None:
    chat = office.thread("1.1")
    assert channel_router.tracker(chat) is channel_router.trackers["slack"]
    assert channel_router.tracker(jira.ref) is channel_router.trackers["jira"]


def test_a_service_that_is_gone_from_the_settings_is_not_found(
    github: GitHub, office: Office
) -> None:
    alone = ChannelRouter(github.channel)
    with pytest.raises(NotFoundError, match="slack is not configured any more"):
        alone.post(office.thread("1.1"), "Working on it")
