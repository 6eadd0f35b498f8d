"""Who follows a tutorial to the letter, on a clean machine, gets what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tutorials.following import Place, follow
from tests.tutorials.machine import machine
from tests.tutorials.world import World, world

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
