"""Who may start a run."""

import pytest

from patchwright.core.settings.repository import FollowUpTrigger
from patchwright.core.types.people import Actor, Permission
from patchwright.integrations.gitlab.settings import FORMS as GITLAB_FORMS
from patchwright.resolver.admission import (
    AdmissionFacts,
    AdmissionPolicy,
    Admitted,
    Declined,
    Participant,
    admit,
    needs_permission,
)

ALICE = Actor(service="github", login="alice")
EVE = Actor(service="github", login="eve")
DEPENDABOT = Actor(service="github", login="dependabot[bot]", is_bot=True)


def declined(facts: AdmissionFacts, policy: AdmissionPolicy) -> Declined:
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
    judged = admit(
        AdmissionFacts(actor=ALICE, permission=permission),
        AdmissionPolicy(forge="github"),
    )
    assert isinstance(judged, Admitted) is admitted


def test_s09_a_stranger_is_declined_quietly() -> None:
    judged = declined(
        AdmissionFacts(actor=ALICE, permission=Permission.NONE),
        AdmissionPolicy(forge="github"),
    )
    assert (judged.quiet, judged.silent) == (True, False)


def test_s11_a_refusal_names_the_person_and_the_permission() -> None:
    judged = declined(
        AdmissionFacts(actor=ALICE, permission=Permission.NONE),
        AdmissionPolicy(forge="github"),
    )
    assert judged.text == "alice has no access here; write access is needed."


def test_a_refusal_names_the_permission_as_the_forge_does() -> None:
    eve = Actor(service="gitlab", login="eve")
    judged = declined(
        AdmissionFacts(actor=eve, permission=Permission.TRIAGE),
        AdmissionPolicy(forge="gitlab", forms=GITLAB_FORMS),
    )
    assert judged.text == "eve has reporter access here; developer access is needed."


def test_an_unknown_permission_is_no_permission() -> None:
    judged = declined(
        AdmissionFacts(actor=ALICE, permission=None), AdmissionPolicy(forge="github")
    )
    assert judged.reason == "permission-unknown"
    assert not judged.quiet


def test_a_named_person_needs_no_permission() -> None:
    policy = AdmissionPolicy(forge="github", allow_users=frozenset({"Alice"}))
    judged = admit(AdmissionFacts(actor=ALICE, permission=None), policy)
    assert judged == Admitted(why="alice is named in `allow_users`")
    assert not needs_permission(ALICE, policy)
    assert needs_permission(ALICE, AdmissionPolicy(forge="github"))


@pytest.mark.parametrize("name", ["dependabot", "dependabot[bot]", "Dependabot"])
def test_s10_a_bot_is_allowed_only_by_its_name(name: str) -> None:
    facts = AdmissionFacts(actor=DEPENDABOT, permission=Permission.ADMIN)
    assert isinstance(admit(facts, AdmissionPolicy(forge="github")), Declined)
    named = AdmissionPolicy(forge="github", allow_bots=frozenset({name}))
    assert isinstance(admit(facts, named), Admitted)


def test_s10_a_bot_is_not_a_person_of_the_same_name() -> None:
    policy = AdmissionPolicy(
        forge="github", allow_users=frozenset({"dependabot[bot]", "dependabot"})
    )
    assert declined(AdmissionFacts(actor=DEPENDABOT, permission=None), policy).silent


def test_s08_a_bot_that_is_not_named_gets_no_answer_at_all() -> None:
    judged = declined(
        AdmissionFacts(actor=DEPENDABOT, permission=Permission.ADMIN),
        AdmissionPolicy(forge="github"),
    )
    assert (judged.reason, judged.quiet, judged.silent) == ("bot-not-named", True, True)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Participant(actor=EVE, permission=Permission.READ), "not-permitted"),
        (Participant(actor=EVE, permission=None), "permission-unknown"),
        (Participant(actor=DEPENDABOT), "bot-not-named"),
    ],
)
def test_everybody_who_took_part_is_judged(other: Participant, reason: str) -> None:
    facts = AdmissionFacts(actor=ALICE, permission=Permission.ADMIN, others=(other,))
    judged = declined(facts, AdmissionPolicy(forge="github"))
    assert judged.reason == reason
    assert other.actor.login in judged.text


def test_where_several_are_declined_a_bot_silences_it_all() -> None:
    others = (Participant(actor=EVE), Participant(actor=DEPENDABOT))
    facts = AdmissionFacts(actor=ALICE, permission=None, others=others)
    assert declined(facts, AdmissionPolicy(forge="github")).silent


def test_what_the_repository_does_not_want_starts_nothing() -> None:
    policy = AdmissionPolicy(
        forge="github", start_triggers=frozenset({FollowUpTrigger.LABEL})
    )
    known = AdmissionFacts(actor=ALICE, permission=Permission.ADMIN)
    mention = known.replace(start_trigger=FollowUpTrigger.MENTION)
    label = known.replace(start_trigger=FollowUpTrigger.LABEL)
    judged = declined(mention, policy)
    assert (judged.reason, judged.quiet, judged.silent) == ("trigger-off", True, False)
    assert isinstance(admit(label, policy), Admitted)
    assert isinstance(admit(known, policy), Admitted)


def test_whoever_only_reviews_is_not_refused_aloud() -> None:
    review = AdmissionFacts(
        actor=EVE, permission=None, start_trigger=FollowUpTrigger.REVIEW
    )
    unwanted = AdmissionPolicy(
        forge="github", start_triggers=frozenset({FollowUpTrigger.MENTION})
    )
    judged = declined(review, unwanted)
    assert (judged.reason, judged.silent) == ("trigger-off", True)
    stranger = review.replace(permission=Permission.READ)
    wanted = AdmissionPolicy(
        forge="github", start_triggers=frozenset({FollowUpTrigger.REVIEW})
    )
    judged = declined(stranger, wanted)
    assert (judged.reason, judged.silent) == ("not-permitted", True)


def test_s08_a_thread_starts_only_so_many_runs_an_hour() -> None:
    facts = AdmissionFacts(
        actor=ALICE, permission=Permission.ADMIN, runs_in_thread_last_hour=10
    )
    judged = declined(facts, AdmissionPolicy(forge="github"))
    assert (judged.reason, judged.quiet) == ("too-many-runs", False)


def test_s08_a_bot_gets_no_message_about_its_limit() -> None:
    facts = AdmissionFacts(
        actor=DEPENDABOT, permission=None, runs_in_thread_last_hour=10
    )
    assert declined(
        facts, AdmissionPolicy(forge="github", allow_bots=frozenset({"dependabot"}))
    ).quiet


def test_s09_a_stranger_does_not_learn_how_often_others_asked() -> None:
    facts = AdmissionFacts(
        actor=EVE, permission=Permission.READ, runs_in_thread_last_hour=10
    )
    assert declined(facts, AdmissionPolicy(forge="github")).reason == "not-permitted"
