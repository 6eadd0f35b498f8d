"""What GitLab says of somebody's rights, by whichever way they have them."""

import pytest

from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.adapter import GitLab
from tests.adapters.gitlab.conftest import PATH, SHOP, connect
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level, Visibility

HIDDEN = RepoRef(forge="gitlab", full_name="acme/hidden")


def person(fake: FakeGitLab, username: str) -> Actor:
    number = fake.world.user(username).id
    return Actor(service="gitlab", login=username, external_id=str(number))


@pytest.fixture
def bo(fake: FakeGitLab) -> Actor:
    fake.add_user("bo")
    return person(fake, "bo")


@pytest.fixture
def hidden(fake: FakeGitLab) -> RepoRef:
    fake.add_project(HIDDEN.full_name, visibility=Visibility.PRIVATE)
    return HIDDEN


LEVELS = [
    (Level.MINIMAL, Permission.READ),
    (Level.GUEST, Permission.READ),
    (Level.PLANNER, Permission.TRIAGE),
    (Level.REPORTER, Permission.TRIAGE),
    (Level.DEVELOPER, Permission.WRITE),
    (Level.MAINTAINER, Permission.MAINTAIN),
    (Level.OWNER, Permission.ADMIN),
]


@pytest.mark.parametrize(("level", "permission"), LEVELS)
def test_a6_each_level_is_a_permission(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor, level: Level, permission: Permission
) -> None:
    fake.grant(PATH, "bo", level)
    assert gitlab.forge.fetch_permission(SHOP, bo) is permission


@pytest.mark.parametrize("level", [level for level, _ in LEVELS])
def test_a6_below_reporter_nobody_reads_the_code_of_a_private_project(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor, hidden: RepoRef, level: Level
) -> None:
    fake.grant(hidden.full_name, "bo", level)
    found = gitlab.forge.fetch_permission(hidden, bo)
    assert found.allows(Permission.READ) == (level >= Level.REPORTER)


def test_s16_rights_of_a_group_far_above_count(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor
) -> None:
    fake.grant("acme", "bo", Level.MAINTAINER)
    assert gitlab.forge.fetch_permission(SHOP, bo) is Permission.MAINTAIN


def test_s16_rights_of_an_invited_group_count_at_most_as_lent(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor
) -> None:
    fake.grant("guests", "bo", Level.OWNER)
    fake.share(PATH, "guests", Level.DEVELOPER)
    assert gitlab.forge.fetch_permission(SHOP, bo) is Permission.WRITE


def test_a6_the_highest_of_several_memberships_counts(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor
) -> None:
    fake.grant(PATH, "bo", Level.DEVELOPER)
    fake.grant("acme/tools", "bo", Level.GUEST)
    assert gitlab.forge.fetch_permission(SHOP, bo) is Permission.WRITE


def test_a6_a_blocked_user_may_do_nothing(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor
) -> None:
    fake.grant(PATH, "bo", Level.OWNER)
    fake.block("bo")
    assert gitlab.forge.fetch_permission(SHOP, bo) is Permission.NONE


def test_a6_an_outsider_reads_what_is_public_and_no_more(
    gitlab: GitLab, bo: Actor, hidden: RepoRef
) -> None:
    assert gitlab.forge.fetch_permission(SHOP, bo) is Permission.READ
    assert gitlab.forge.fetch_permission(hidden, bo) is Permission.NONE


def test_a6_an_internal_project_is_closed_to_whom_we_do_not_know_better(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor
) -> None:
    fake.add_project("acme/inside", visibility=Visibility.INTERNAL)
    inside = RepoRef(forge="gitlab", full_name="acme/inside")
    assert gitlab.forge.fetch_permission(inside, bo) is Permission.NONE
    fake.grant(inside.full_name, "bo", Level.GUEST)
    assert gitlab.forge.fetch_permission(inside, bo) is Permission.READ


def test_a6_an_administrator_as_the_bot_knows_who_is_external(
    fake: FakeGitLab, bo: Actor
) -> None:
    fake.add_project("acme/inside", visibility=Visibility.INTERNAL)
    inside = RepoRef(forge="gitlab", full_name="acme/inside")
    fake.add_user("ext", external=True)
    fake.add_user("chief", admin=True)
    root = connect(fake, fake.add_user("root-bot", admin=True))
    ask = root.forge.fetch_permission
    assert ask(inside, bo) is Permission.READ
    assert ask(inside, person(fake, "ext")) is Permission.NONE
    assert ask(inside, person(fake, "chief")) is Permission.ADMIN
    root.close()


def test_a6_a_name_that_passed_to_somebody_else_brings_no_rights(
    fake: FakeGitLab, gitlab: GitLab, bo: Actor, hidden: RepoRef
) -> None:
    fake.add_user("eve")
    fake.grant(hidden.full_name, "eve", Level.OWNER)
    stale = bo.replace(login="eve")
    assert gitlab.forge.fetch_permission(hidden, stale) is Permission.NONE


def test_a6_who_is_known_by_name_alone_is_looked_up(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    fake.add_user("bo")
    fake.grant(PATH, "bo", Level.DEVELOPER)
    named = Actor(service="gitlab", login="Bo")
    assert gitlab.forge.fetch_permission(SHOP, named) is Permission.WRITE
    nobody = Actor(service="gitlab", login="nobody")
    assert gitlab.forge.fetch_permission(SHOP, nobody) is Permission.NONE
    gone = Actor(service="gitlab", login="gone", external_id="999999")
    assert gitlab.forge.fetch_permission(SHOP, gone) is Permission.NONE


def test_a6_in_a_project_that_is_not_there_nobody_may_do_anything(
    gitlab: GitLab, bo: Actor
) -> None:
    lost = RepoRef(forge="gitlab", full_name="acme/lost")
    assert gitlab.forge.fetch_permission(lost, bo) is Permission.NONE
