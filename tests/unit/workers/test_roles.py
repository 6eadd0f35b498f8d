"""Roles: who is named by the settings, and what a sign-in and a merger change."""

import json
from pathlib import Path

import pytest

from patchwright.core.settings.service import OidcSettings
from patchwright.integrations.settings import load_settings, service_errors
from patchwright.workers.accounts.principal import Role
from patchwright.workers.accounts.roles import (
    OIDC,
    GivenRole,
    Identity,
    RoleSource,
    merged_role,
    role_at_sign_in,
)
from patchwright.workers.accounts.tokens import Scope, scopes_for

VIEWER, MEMBER, ADMIN = (GivenRole(role=role) for role in Role)
BY_PERSON = GivenRole(role=Role.ADMIN, source=RoleSource.PERSON)
BY_PROVIDER = GivenRole(role=Role.ADMIN, source=RoleSource.PROVIDER)


@pytest.mark.parametrize(
    ("before", "is_provider_admin", "after"),
    [
        (MEMBER, True, BY_PROVIDER),
        (MEMBER, False, MEMBER),
        (BY_PROVIDER, False, MEMBER),
        # A sign-in with the forge says nothing about groups.
        (BY_PROVIDER, None, BY_PROVIDER),
        (BY_PERSON, False, BY_PERSON),
        (VIEWER, None, VIEWER),
    ],
)
def test_a_sign_in_changes_what_the_provider_gave(
    before: GivenRole,
    is_provider_admin: bool | None,  # noqa: FBT001 - a parameter of the test
    after: GivenRole,
) -> None:
    found = role_at_sign_in(before, Role.MEMBER, is_provider_admin=is_provider_admin)
    assert found == after


@pytest.mark.parametrize(
    ("one", "other", "role"),
    [
        (MEMBER, ADMIN, Role.ADMIN),
        (VIEWER, ADMIN, Role.VIEWER),
        (MEMBER, VIEWER, Role.VIEWER),
        (MEMBER, MEMBER, Role.MEMBER),
    ],
)
def test_a_second_account_is_no_way_around_a_role(
    one: GivenRole, other: GivenRole, role: Role
) -> None:
    assert merged_role(one, other).role is role
    assert merged_role(other, one).role is role


def test_people_at_a_provider_are_not_named_by_what_they_call_themselves() -> None:
    one = Identity(
        id="1", service=OIDC, host="https://sso.test", subject="s1", login="root@a.test"
    )
    assert not one.is_named(["oidc:root@a.test"])
    assert one.is_named(["oidc:s1"])
    assert one.replace(email="root@a.test").is_named(["oidc:Root@A.test"])
    at_forge = one.replace(service="github", login="Alice")
    assert at_forge.is_named(["github:alice"])
    assert not at_forge.is_named(["gitlab:alice", "github:s1"])


def test_a_role_allows_the_scopes_up_to_it() -> None:
    assert scopes_for(Role.VIEWER) == (Scope.READ,)
    assert scopes_for(Role.MEMBER) == (Scope.READ, Scope.WRITE)
    assert scopes_for(Role.ADMIN) == tuple(Scope)


@pytest.mark.parametrize("name", ["alice", "slack:U1", "github:", "oidc: "])
def test_a_setting_that_names_nobody_is_refused(name: str) -> None:
    environ = {"PATCHWRIGHT_ACCOUNTS__ADMINS": json.dumps([name])}
    settings = load_settings(environ, flags={}, cwd=Path("/nonexistent"))
    assert (
        f"accounts.admins: {name!r} names nobody; write FORGE:LOGIN, or oidc: and a "
        "subject or an e-mail address"
    ) in service_errors(settings)


@pytest.mark.parametrize("issuer", ["sso.test", "http://sso.test", "ftp://sso.test"])
def test_a_provider_is_reached_by_https(issuer: str) -> None:
    with pytest.raises(ValueError, match="begins with https://"):
        OidcSettings(issuer=issuer)
    assert OidcSettings(issuer="http://127.0.0.1:8080").issuer
