"""Who follows a tutorial to the letter, on a clean machine, gets what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tutorials import hands_github as github
from tests.tutorials.following import Hand, Place, follow
from tests.tutorials.machine import machine
from tests.tutorials.world import World, world

GITHUB_APP: dict[str, Hand] = {
    "proxy": github.put_a_proxy_in_front,
    "make the App": github.make_the_app,
    "install the App": github.install_the_app,
    "open an issue": github.open_an_issue,
    "see the pull request": github.see_the_pull_request,
}

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("tutorials")]


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as ready:
        yield ready


@pytest.fixture
def place(outside: World) -> Iterator[Place]:
    with machine(outside.network, outside.hosts, outside.authority.bundle) as ready:
        ready.type("git config --global user.name Alice")
        ready.type("git config --global user.email alice@example.com")
        yield Place(ready, outside)


def test_on_the_command_line(place: Place) -> None:
    follow("command-line", place, {})


def test_as_a_github_app(place: Place) -> None:
    follow("github-app", place, GITHUB_APP)
