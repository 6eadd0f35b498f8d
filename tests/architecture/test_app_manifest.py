"""The App asks for what the code needs, and for nothing else."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from patchwright.integrations.github.app import AUTOMATIC_EVENTS, manifest
from patchwright.integrations.github.webhooks.reader import EVENTS
from tests import fakes
from tests.app_manifest import app_manifest
from tests.architecture.tree import ROOT
from tests.fakes.github.access import LEVELS, Need
from tests.fakes.github.acts.registrations import register
from tests.fakes.github.fake import FakeGitHub

ADDRESS = "https://patchwright.example.com"
# Whoever works with a token looks after the webhooks of its repositories; an App has
# one of its own.
FOR_TOKENS = {"repository_hooks"}


def test_the_file_is_what_the_service_sends() -> None:
    assert app_manifest() == manifest("patchwright", ADDRESS)


def test_every_event_that_is_read_is_asked_for_and_no_other() -> None:
    assert set(app_manifest()["default_events"]) == EVENTS - AUTOMATIC_EVENTS


def test_github_takes_it() -> None:
    with FakeGitHub() as github:
        assert register(github.world, dict(app_manifest()), "acme")


@pytest.mark.parametrize("event", sorted(AUTOMATIC_EVENTS))
def test_github_takes_none_that_asks_for_what_every_app_hears(event: str) -> None:
    with FakeGitHub() as github, pytest.raises(Exception, match="events unsupported"):
        register(github.world, {**app_manifest(), "default_events": [event]}, "")


def test_the_permissions_are_enough_for_every_call() -> None:
    held = app_manifest()["default_permissions"]
    short = [need for need in _needs() if not _suffices(held, need)]
    assert short == []


@pytest.mark.parametrize("name", sorted(app_manifest()["default_permissions"]))
def test_no_permission_is_superfluous(name: str) -> None:
    level = app_manifest()["default_permissions"][name]
    assert any(name in need.resources and need.level == level for need in _needs())


def test_the_documentation_names_them_all() -> None:
    text = (ROOT / "docs" / "github.md").read_text()
    asked = app_manifest()
    for name, level in asked["default_permissions"].items():
        assert f"| `{name}` | {level} |" in text
    for event in asked["default_events"]:
        assert f"`{event}`" in text


def _suffices(held: dict[str, str], need: Need) -> bool:
    return any(
        LEVELS.index(held[name]) >= LEVELS.index(need.level)
        for name in need.resources
        if name in held
    )


def _needs() -> Iterator[Need]:
    """Yield what the calls take that the fake GitHub serves, which are ours."""
    for module in pkgutil.walk_packages(fakes.__path__, f"{fakes.__name__}."):
        if module.name.startswith("tests.fakes.github."):
            values = vars(importlib.import_module(module.name)).values()
            found = (value for value in values if isinstance(value, Need))
            yield from (need for need in found if not FOR_TOKENS & {*need.resources})
