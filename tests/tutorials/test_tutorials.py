"""Who follows a tutorial to the letter, on a clean machine, gets what it says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tutorials import hands_github as github
from tests.tutorials.company import company
from tests.tutorials.following import Hand, Place, follow
from tests.tutorials.hands_action import Actions
from tests.tutorials.hands_gitlab import gitlab_hands, gitlab_in
from tests.tutorials.hands_linear import linear_hands, linear_in
from tests.tutorials.hands_talk import jira_hands, slack_hands
from tests.tutorials.machine import WITHOUT_ENGINE, Machine, machine
from tests.tutorials.offices import jira_in, slack_in
from tests.tutorials.world import World, world

GITHUB_APP: dict[str, Hand] = {
    "proxy": github.put_a_proxy_in_front,
    "make the App": github.make_the_app,
    "install the App": github.install_the_app,
    "open an issue": github.open_an_issue,
    "see the pull request": github.see_the_pull_request,
}

COMPOSE: dict[str, Hand] = {
    "make the App": github.make_and_install_the_app,
    "open an issue": github.open_an_issue,
    "see the pull request": github.see_the_pull_request,
}

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as ready:
        yield ready


@pytest.fixture
def by_address(tmp_path: Path) -> Iterator[Place]:
    """Set up a world whose GitHub can be reached from here as well, by runners."""
    with world(tmp_path, None) as ready, _machine_in(ready) as own:
        yield Place(own, ready)


@pytest.fixture
def place(outside: World) -> Iterator[Place]:
    with _machine_in(outside) as own:
        yield Place(own, outside)


@contextmanager
def _machine_in(outside: World) -> Iterator[Machine]:
    options = WITHOUT_ENGINE
    with machine(outside.network, outside.hosts, outside.bundle, options) as own:
        yield own


def test_on_the_command_line(place: Place) -> None:
    follow("command-line", place, {})


def test_on_gitlab(place: Place) -> None:
    with gitlab_in(place.world) as server:
        follow("gitlab", place, gitlab_hands(server))


def test_as_a_github_app_and_then_from_slack_jira_and_linear(place: Place) -> None:
    follow("github-app", place, GITHUB_APP)
    with slack_in(place.world) as team:
        follow("slack", place, slack_hands(team))
        with jira_in(place.world) as site:
            follow("jira", place, jira_hands(site))
            with linear_in(place.world) as workspace:
                follow("linear", place, linear_hands(workspace))


def test_in_a_workflow(by_address: Place, tmp_path: Path) -> None:
    by_address.world.github.forbid_actions_pull_requests()
    follow("action", by_address, Actions(tmp_path).hands)


def test_with_compose(outside: World, tmp_path: Path) -> None:
    with company(tmp_path, outside) as own:
        follow("compose", Place(own, outside), COMPOSE)
