"""What an issue has beside its words: a status, labels, links and a repository."""

import pytest

from patchwright.core.types.errors import InvalidRequestError
from patchwright.integrations.linear.plugin import FIRST_REVIEW, FIRST_STARTED
from tests.adapters.linear.conftest import Scene, connect


def test_it_goes_to_the_first_started_status_and_to_review(scene: Scene) -> None:
    scene.channel.move(scene.ref, FIRST_STARTED)
    assert scene.fake.state(scene.key) == "In Progress"
    assert scene.fake.issue(scene.key).delegate == scene.fake.bot
    scene.channel.move(scene.ref, FIRST_REVIEW)
    assert scene.fake.state(scene.key) == "In Review"
    scene.channel.move(scene.ref, FIRST_STARTED)
    assert scene.fake.state(scene.key) == "In Review"


@pytest.mark.parametrize("state", ["Done", "Canceled"])
def test_nothing_leads_back_from_an_end(scene: Scene, state: str) -> None:
    scene.fake.transition(scene.key, scene.ann, state)
    scene.channel.move(scene.ref, FIRST_STARTED)
    scene.channel.move(scene.ref, FIRST_REVIEW)
    assert scene.fake.state(scene.key) == state


def test_a_status_may_be_named(scene: Scene) -> None:
    scene.channel.move(scene.ref, "done")
    assert scene.fake.state(scene.key) == "Done"
    with pytest.raises(
        InvalidRequestError, match="the team has no status Shipped, only: Triage, "
    ):
        scene.channel.move(scene.ref, "Shipped")


def test_labels_that_are_known_are_swapped(scene: Scene) -> None:
    fake = scene.fake
    fake.label(scene.key, scene.ann, "patchwright")
    fake.scene.label(fake.workspace, "patchwright:running")
    scene.channel.swap_labels(
        scene.ref, ("patchwright:running",), ("patchwright", "patchwright:done")
    )
    assert fake.labels(scene.key) == ["patchwright:running"]
    scene.channel.swap_labels(scene.ref, ("unknown",), ("patchwright:running",))
    assert fake.labels(scene.key) == []


def test_a_pull_request_is_linked_once(scene: Scene) -> None:
    scene.begin_session()
    url = "https://github.com/acme/shop/pull/1"
    for title in ("acme/shop#1: Fix", "acme/shop#1: Fix the sum"):
        scene.channel.attach_link(scene.ref, url, title, url)
    [link] = scene.fake.attachments(scene.key)
    assert link.url == url
    assert {"label": "acme/shop#1", "url": url} in scene.fake.session(
        scene.key
    ).external_urls


@pytest.mark.parametrize(
    "url",
    [
        "https://git.corp.example/group/sub/app/-/merge_requests/5",
        "https://bot.test/run/7f3a",
    ],
)
def test_any_address_is_linked(scene: Scene, url: str) -> None:
    scene.channel.attach_link(scene.ref, url, "x" * 300, url)
    [link] = scene.fake.attachments(scene.key)
    assert link.url == url
    assert len(link.title) <= 255


def test_the_repository_is_that_of_the_project_or_else_of_the_team(
    scene: Scene,
) -> None:
    fake = scene.fake
    project = fake.add_project("Checkout", "ENG")
    teams = {"ENG": "acme/shop", "checkout": "acme/checkout"}
    channel = connect(fake, scene.clock, teams=teams).channel
    assert channel.find_repository(scene.ref) == "acme/shop"
    fake.set_project(scene.key, scene.ann, project)
    assert channel.find_repository(scene.ref) == "acme/checkout"


def test_else_it_is_the_one_that_linear_keeps_in_step(scene: Scene) -> None:
    channel = connect(scene.fake, scene.clock, teams={}).channel
    assert channel.find_repository(scene.ref) == ""
    url = "https://github.com/acme/tools/issues/3"
    scene.fake.sync(scene.key, scene.ann, url)
    assert channel.find_repository(scene.ref) == url
    other = "https://github.com/acme/docs/issues/1"
    scene.fake.attach(scene.key, scene.ann, other, "Docs", source_type="github")
    assert channel.find_repository(scene.ref) == ""
