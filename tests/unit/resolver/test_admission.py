"""Who may start a run."""

import pytest

from patchwright.core.types.people import Actor, Permission
from patchwright.resolver.admission import Admitted, Declined, Facts, Policy, admit

ALICE = Actor(service="github", login="alice")
DEPENDABOT = Actor(service="github", login="dependabot[bot]", is_bot=True)


@pytest.mark.parametrize(
    ("permission", "admitted"),
    [
        (Permission.NONE, False),
        (Permission.READ, False),
        (Permission.TRIAGE, False),
        (Permission.WRITE, True),
        (Permission.MAINTAIN, True),
        (Permission.ADMIN, True),
    ],
)
def test_write_permission_is_needed(permission: Permission, *, admitted: bool) -> None:
    judged = admit(Facts(actor=ALICE, permission=permission), Policy())
    assert isinstance(judged, Admitted) is admitted


def test_s09_a_stranger_is_declined_quietly() -> None:
    judged = admit(Facts(actor=ALICE, permission=Permission.NONE), Policy())
    assert isinstance(judged, Declined)
    assert judged.quiet
    assert judged.text == "alice has none permission here; write is needed."


def test_an_unknown_permission_is_no_permission() -> None:
    judged = admit(Facts(actor=ALICE, permission=None), Policy())
    assert isinstance(judged, Declined)
    assert judged.reason == "permission-unknown"
    assert not judged.quiet


def test_a_named_person_needs_no_permission() -> None:
    policy = Policy(allow_users=frozenset({"Alice"}))
    assert isinstance(admit(Facts(actor=ALICE, permission=None), policy), Admitted)


@pytest.mark.parametrize("name", ["dependabot", "dependabot[bot]", "Dependabot"])
def test_s10_a_bot_is_let_in_by_name_alone(name: str) -> None:
    facts = Facts(actor=DEPENDABOT, permission=Permission.ADMIN)
    assert isinstance(admit(facts, Policy()), Declined)
    named = Policy(allow_bots=frozenset({name}))
    assert isinstance(admit(facts, named), Admitted)


def test_s08_a_thread_starts_only_so_many_runs_an_hour() -> None:
    facts = Facts(actor=ALICE, permission=Permission.ADMIN, runs_in_thread_last_hour=10)
    judged = admit(facts, Policy())
    assert isinstance(judged, Declined)
    assert judged.reason == "too-many-runs"
