"""Labels show how a run goes; they are swapped without touching other people's."""

import pytest

from patchwright.core.types.errors import PermissionDeniedError
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import connect, issue_ref
from tests.fakes.github.fake import FakeGitHub

RUNNING, DONE = "patchwright:running", "patchwright:done"


@pytest.fixture
def number(fake: FakeGitHub) -> int:
    number = fake.open_issue("acme/shop", "ann", "Wrong sum", "It is off by one.")
    for label in ("bug", "patchwright"):
        fake.label("acme/shop", number, label, "ann")
    return number


def labels(fake: FakeGitHub, number: int) -> tuple[str, ...]:
    return fake.issue("acme/shop", number).labels


def writes(fake: FakeGitHub) -> list[tuple[str, str]]:
    return [(s.method, s.path) for s in fake.requests if s.method != "GET"]


def test_labels_are_swapped_and_others_stay(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    as_app.channel.swap_labels(issue_ref(number), (RUNNING,), ("patchwright",))
    assert labels(fake, number) == ("bug", RUNNING)
    as_app.channel.swap_labels(issue_ref(number), (DONE,), (RUNNING,))
    assert labels(fake, number) == ("bug", DONE)


def test_a_new_label_gets_the_colour_of_what_it_means(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    as_app.channel.swap_labels(issue_ref(number), (DONE,), ())
    assert fake.world.labels["acme/shop", DONE] == "0e8a16"


def test_a_label_that_people_have_coloured_keeps_its_colour(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.world.labels["acme/shop", DONE] = "abcdef"
    as_app.channel.swap_labels(issue_ref(number), (DONE,), ())
    assert fake.world.labels["acme/shop", DONE] == "abcdef"


def test_what_is_so_already_is_not_written_again(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    as_app.channel.swap_labels(issue_ref(number), (RUNNING,), ())
    before = writes(fake)
    as_app.channel.swap_labels(issue_ref(number), (RUNNING.upper(),), (DONE,))
    assert writes(fake) == before


def test_a_label_with_a_slash_is_taken_off(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.label("acme/shop", number, "bot/run it", "ann")
    as_app.channel.swap_labels(issue_ref(number), (), ("bot/run it",))
    assert labels(fake, number) == ("bug", "patchwright")


def test_who_may_triage_uses_the_labels_that_are_there(
    fake: FakeGitHub, number: int
) -> None:
    fake.world.labels["acme/shop", DONE] = "abcdef"
    token = fake.add_user("robot")
    fake.grant("acme/shop", "robot", "triage")
    github = connect(fake, token)
    github.channel.swap_labels(issue_ref(number), (DONE, RUNNING), ("bug",))
    github.close()
    assert labels(fake, number) == ("patchwright", DONE, RUNNING)


def test_who_may_not_triage_is_denied(fake: FakeGitHub, number: int) -> None:
    github = connect(fake, fake.add_user("stranger"))
    with pytest.raises(PermissionDeniedError):
        github.channel.swap_labels(issue_ref(number), (DONE,), ())
    github.close()
