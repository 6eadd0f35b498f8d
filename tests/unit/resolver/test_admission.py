"""Who may start a run."""

import pytest

from patchwright.core.settings.repository import Occasion
from patchwright.core.types.people import Actor, Permission
from patchwright.resolver.admission import (
    Admitted,
    Declined,
    Facts,
    Involved,
    Policy,
    admit,
    needs_permission,
)

ALICE = Actor(service="github", login="alice")
EVE = Actor(service="github", login="eve")
DEPENDABOT = Actor(service="github", login="dependabot[bot]", is_bot=True)


def declined(facts: Facts, policy: Policy) -> Declined:
    judged = admit(facts, policy)
    assert isinstance(judged, Declined)
    return judged


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
    judged = declined(Facts(actor=ALICE, permission=Permission.NONE), Policy())
    assert (judged.quiet, judged.silent) == (True, False)


def test_s11_a_refusal_says_whose_rights_were_found_to_be_what() -> None:
    judged = declined(Facts(actor=ALICE, permission=Permission.NONE), Policy())
    assert judged.text == "alice has none permission here; write is needed."


def test_an_unknown_permission_is_no_permission() -> None:
    judged = declined(Facts(actor=ALICE, permission=None), Policy())
    assert judged.reason == "permission-unknown"
    assert not judged.quiet


def test_a_named_person_needs_no_permission() -> None:
    policy = Policy(allow_users=frozenset({"Alice"}))
    judged = admit(Facts(actor=ALICE, permission=None), policy)
    assert judged == Admitted(why="alice is named in `allow_users`")
    assert not needs_permission(ALICE, policy)
    assert needs_permission(ALICE, Policy())


@pytest.mark.parametrize("name", ["dependabot", "dependabot[bot]", "Dependabot"])
def test_s10_a_bot_is_let_in_by_name_alone(name: str) -> None:
    facts = Facts(actor=DEPENDABOT, permission=Permission.ADMIN)
    assert isinstance(admit(facts, Policy()), Declined)
    named = Policy(allow_bots=frozenset({name}))
    assert isinstance(admit(facts, named), Admitted)


def test_s10_a_bot_is_no_person_of_the_same_name() -> None:
    policy = Policy(allow_users=frozenset({"dependabot[bot]", "dependabot"}))
    assert declined(Facts(actor=DEPENDABOT, permission=None), policy).silent


def test_s08_a_bot_that_is_not_named_gets_no_answer_at_all() -> None:
    judged = declined(Facts(actor=DEPENDABOT, permission=Permission.ADMIN), Policy())
    assert (judged.reason, judged.quiet, judged.silent) == ("bot-not-named", True, True)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Involved(actor=EVE, permission=Permission.READ), "not-permitted"),
        (Involved(actor=EVE, permission=None), "permission-unknown"),
        (Involved(actor=DEPENDABOT), "bot-not-named"),
    ],
)
def test_everybody_who_took_part_is_judged(other: Involved, reason: str) -> None:
    facts = Facts(actor=ALICE, permission=Permission.ADMIN, others=(other,))
    judged = declined(facts, Policy())
    assert judged.reason == reason
    assert other.actor.login in judged.text


def test_where_several_are_declined_a_bot_silences_it_all() -> None:
    others = (Involved(actor=EVE), Involved(actor=DEPENDABOT))
    facts = Facts(actor=ALICE, permission=None, others=others)
    assert declined(facts, Policy()).silent


def test_what_the_repository_does_not_want_starts_nothing() -> None:
    policy = Policy(occasions=frozenset({Occasion.LABEL}))
    known = Facts(actor=ALICE, permission=Permission.ADMIN)
    mention = known.replace(occasion=Occasion.MENTION)
    label = known.replace(occasion=Occasion.LABEL)
    judged = declined(mention, policy)
    assert (judged.reason, judged.quiet, judged.silent) == ("trigger-off", True, False)
    assert isinstance(admit(label, policy), Admitted)
    assert isinstance(admit(known, policy), Admitted)


def test_whoever_only_reviews_is_not_refused_aloud() -> None:
    review = Facts(actor=EVE, permission=None, occasion=Occasion.REVIEW)
    unwanted = Policy(occasions=frozenset({Occasion.MENTION}))
    judged = declined(review, unwanted)
    assert (judged.reason, judged.silent) == ("trigger-off", True)
    stranger = review.replace(permission=Permission.READ)
    wanted = Policy(occasions=frozenset({Occasion.REVIEW}))
    judged = declined(stranger, wanted)
    assert (judged.reason, judged.silent) == ("not-permitted", True)


def test_s08_a_thread_starts_only_so_many_runs_an_hour() -> None:
    facts = Facts(actor=ALICE, permission=Permission.ADMIN, runs_in_thread_last_hour=10)
    judged = declined(facts, Policy())
    assert (judged.reason, judged.quiet) == ("too-many-runs", False)


def test_s08_a_bot_is_not_told_that_it_asks_too_often() -> None:
    facts = Facts(actor=DEPENDABOT, permission=None, runs_in_thread_last_hour=10)
    assert declined(facts, Policy(allow_bots=frozenset({"dependabot"}))).quiet


def test_s09_a_stranger_does_not_learn_how_often_others_asked() -> None:
    facts = Facts(actor=EVE, permission=Permission.READ, runs_in_thread_last_hour=10)
    assert declined(facts, Policy()).reason == "not-permitted"
