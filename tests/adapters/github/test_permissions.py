"""What GitHub says about somebody's rights, whoever granted them."""

import pytest

from patchwright.core.types.people import Actor, Permission
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.access import REMEMBER_S, PermissionCache
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.fake import FakeGitHub

BO = Actor(service="github", login="bo")


@pytest.mark.parametrize("role", ["read", "triage", "write", "maintain", "admin"])
def test_a6_a_role_of_an_organizations_own_counts_as_what_it_is_based_on(
    fake: FakeGitHub, as_app: GitHub, role: str
) -> None:
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", role, role_name="release-captain")
    # The old four words are all that is known of its base.
    base = {"triage": "read", "maintain": "write"}.get(role, role)
    assert as_app.forge.fetch_permission(SHOP, BO) == Permission(base)


@pytest.mark.parametrize("name", ["admin", "maintain", "write", "Maintain", "none"])
def test_a6_the_name_of_a_role_grants_nothing(
    fake: FakeGitHub, as_app: GitHub, name: str
) -> None:
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", "read", role_name=name)
    assert as_app.forge.fetch_permission(SHOP, BO) is Permission.READ


def test_a6_an_answer_is_good_for_a_minute(fake: FakeGitHub, as_app: GitHub) -> None:
    now = 0.0
    remembered = PermissionCache(as_app.forge, lambda: now)
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", "write")
    assert remembered.permission(SHOP, BO) is Permission.WRITE
    fake.grant("acme/shop", "bo", "read")
    now = REMEMBER_S - 1
    assert remembered.permission(SHOP, BO) is Permission.WRITE
    now = REMEMBER_S
    assert remembered.permission(SHOP, BO) is Permission.READ


def test_a6_what_could_not_be_found_out_is_asked_again(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    remembered = PermissionCache(as_app.forge, lambda: 0.0)
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", "write")
    fake.fail_next("GET", r"/permission$", 403, times=1)
    assert remembered.permission(SHOP, BO) is None
    assert remembered.permission(SHOP, BO) is Permission.WRITE
