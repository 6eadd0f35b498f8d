"""Tickets that changed are found as deliveries would show them."""

from datetime import timedelta

import pytest

from patchwright.core.types.errors import InvalidRequestError
from patchwright.integrations.jira.adapter import quote_jql
from patchwright.integrations.jira.webhooks.payloads import JsonObject
from tests.adapters.jira.conftest import Scene


def search(scene: Scene, minutes: int, *projects: str) -> list[JsonObject]:
    since = scene.clock.now() - timedelta(minutes=minutes)
    return list(scene.jira.search_updated(since, projects or ("APP",)))


def test_ticket_comes_with_comments_and_changes_as_a_delivery_has_them(
    scene: Scene,
) -> None:
    mention = scene.fake.mention(scene.fake.bot)
    scene.fake.comment(scene.key, scene.ann, f"{mention} fix it")
    scene.fake.label(scene.key, scene.ann, "patchwright")
    (found,) = search(scene, 1)
    assert found["key"] == scene.key
    shown = str(found)
    assert f"{mention} fix it" in shown
    assert "'toString': 'patchwright'" in shown
    assert "'type': 'doc'" not in shown


def test_only_what_changed_is_found_whatever_the_time_zone(scene: Scene) -> None:
    scene.clock.advance(3600)
    assert search(scene, 30) == []
    other = scene.fake.create("APP", scene.ann, "New")
    scene.clock.advance(120)
    assert [one["key"] for one in search(scene, 5)] == [other]


def test_other_projects_are_not_looked_at(scene: Scene) -> None:
    scene.fake.add_project("OPS")
    scene.fake.create("OPS", scene.ann, "Elsewhere")
    assert [one["key"] for one in search(scene, 5)] == [scene.key]
    assert len(search(scene, 5, "APP", "OPS")) == 2


def test_every_page_is_read(scene: Scene) -> None:
    for count in range(120):
        scene.fake.create("APP", scene.ann, f"Ticket {count}")
    assert len({str(one["key"]) for one in search(scene, 5)}) == 121


def test_newest_comments_are_there_oldest_first(scene: Scene) -> None:
    for count in range(130):
        scene.fake.comment(scene.key, scene.ann, f"Comment {count}")
    (found,) = search(scene, 1)
    fields = found["fields"]
    assert isinstance(fields, dict)
    comment = fields["comment"]
    assert isinstance(comment, dict)
    comments = comment["comments"]
    assert isinstance(comments, list)
    bodies = [one["body"] for one in comments if isinstance(one, dict)]
    assert bodies == [f"Comment {count}" for count in range(30, 130)]


def test_project_that_is_not_there_is_named(scene: Scene) -> None:
    with pytest.raises(InvalidRequestError, match="'NOPE' does not exist"):
        search(scene, 5, "NOPE")


def test_word_in_a_query_stays_a_word() -> None:
    assert quote_jql('A" OR project = "B\\') == '"A\\" OR project = \\"B\\\\"'


def test_without_projects_nothing_is_asked(scene: Scene) -> None:
    before = len(scene.fake.requests)
    assert list(scene.jira.search_updated(scene.clock.now(), ())) == []
    assert len(scene.fake.requests) == before
