"""The service's rules and the repository's, together."""

import pytest

from patchwright.core.settings.repository import FollowUpTrigger, RepositoryConfig
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.admission import (
    AdmissionPolicy,
    Admitted,
    Declined,
    check_access,
    refused_rules,
    repository_policy,
    start_trigger_of,
    trigger_actors,
    with_forge_accounts,
)

ALICE = Actor(service="github", login="alice", external_id="1")
EVE = Actor(service="github", login="eve", external_id="2")
ROBOT = Actor(service="github", login="robot[bot]", is_bot=True)
THREAD = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"), kind=ThreadKind.ISSUE, number=1
)
SERVICE = AdmissionPolicy(
    forge="github", allow_users=frozenset({"root"}), allow_bots=frozenset({"renovate"})
)


def refuse_to_say(actor: Actor) -> Permission | None:
    raise AssertionError(f"nobody was to ask about {actor.login}")


def test_a_repository_that_says_nothing_adds_nothing_but_its_triggers() -> None:
    policy = repository_policy(SERVICE, RepositoryConfig())
    assert policy == SERVICE.replace(
        start_triggers=frozenset(RepositoryConfig().triggers)
    )
    assert FollowUpTrigger.REVIEW not in (policy.start_triggers or ())


WIDER = RepositoryConfig(
    allow_users=("eve",), allow_bots=("robot",), min_permission=Permission.TRIAGE
)


def test_m9_a_repository_narrows_and_never_widens() -> None:
    policy = repository_policy(SERVICE, WIDER)
    assert policy.allow_users == {"root"}
    assert policy.allow_bots == {"renovate"}
    assert policy.min_permission is Permission.WRITE
    stricter = RepositoryConfig(min_permission=Permission.ADMIN)
    assert repository_policy(SERVICE, stricter).min_permission is Permission.ADMIN


@pytest.mark.parametrize("service", Permission)
@pytest.mark.parametrize("repository", Permission)
def test_m9_the_stricter_permission_counts(
    service: Permission, repository: Permission
) -> None:
    config = RepositoryConfig(min_permission=repository)
    held = repository_policy(
        AdmissionPolicy(forge="github", min_permission=service), config
    ).min_permission
    assert held.allows(service)
    assert held.allows(repository)


def test_m9_it_widens_what_whoever_runs_the_service_lets_it() -> None:
    lists = SERVICE.replace(repositories_may_widen=frozenset({"allow_users"}))
    policy = repository_policy(lists, WIDER)
    assert policy.allow_users == {"root", "eve"}
    assert policy.allow_bots == {"renovate"}
    assert policy.min_permission is Permission.WRITE
    everything = AdmissionPolicy(
        forge="github", repositories_may_widen=frozenset(AdmissionPolicy.model_fields)
    )
    assert repository_policy(everything, WIDER).min_permission is Permission.TRIAGE


def test_m9_what_is_not_kept_is_told() -> None:
    assert refused_rules(SERVICE, WIDER) == (
        "asks for `min_permission = triage`; this service asks for write.",
        "has names in `allow_users` that this service does not accept.",
        "has names in `allow_bots` that this service does not accept.",
    )
    same = RepositoryConfig(allow_users=("Root",), min_permission=Permission.WRITE)
    assert refused_rules(SERVICE, same) == ()


@pytest.mark.parametrize("kind", TriggerKind)
def test_every_trigger_has_its_occasion(kind: TriggerKind) -> None:
    expected = "mention" if kind.endswith("-mention") else kind
    others = {
        TriggerKind.REPLY: "mention",
        TriggerKind.MERGED: "checks",
        TriggerKind.PUSHED: "checks",
    }
    assert start_trigger_of(kind) == others.get(kind, expected)


def test_whoever_took_part_twice_is_judged_once() -> None:
    trigger = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=EVE,
        thread=THREAD,
        request="go",
        others=(ALICE, EVE),
    )
    assert trigger_actors(trigger) == (EVE, ALICE)


def test_only_those_whose_permission_matters_are_asked_about() -> None:
    policy = AdmissionPolicy(
        forge="github",
        allow_users=frozenset({"alice"}),
        allow_bots=frozenset({"robot"}),
    )
    assert isinstance(check_access((ALICE, ROBOT), policy, refuse_to_say), Admitted)
    judged = check_access((ROBOT,), AdmissionPolicy(forge="github"), refuse_to_say)
    assert isinstance(judged, Declined)
    assert judged.silent


def test_s11_the_author_of_the_comment_is_checked_and_named() -> None:
    rights = {"alice": Permission.WRITE, "eve": Permission.READ}
    policy = AdmissionPolicy(forge="github")
    by_maintainer = check_access((ALICE,), policy, lambda actor: rights[actor.login])
    assert by_maintainer == Admitted(why="alice has write access")
    by_author = check_access((EVE,), policy, lambda actor: rights[actor.login])
    assert isinstance(by_author, Declined)
    assert by_author.text == "eve has read access here; write access is needed."


@pytest.mark.parametrize("service", ["slack", "jira"])
def test_a_name_from_elsewhere_has_no_rights_here(service: str) -> None:
    """Anybody can call themselves `alice` in Slack or Jira."""
    impostor = Actor(service=service, login="alice", external_id="U1", host="T1")
    robot = impostor.replace(login="renovate", is_bot=True)
    policy = AdmissionPolicy(
        forge="github",
        allow_users=frozenset({"alice"}),
        allow_bots=frozenset({"renovate"}),
    )
    for actors in ((impostor,), (ALICE, impostor), (robot,), (ALICE, robot)):
        assert isinstance(check_access(actors, policy, refuse_to_say), Declined)


def test_everybody_who_took_part_is_judged_as_the_forge_knows_them() -> None:
    jo = Actor(service="slack", login="eve", external_id="U1", host="T1")
    max_ = Actor(service="slack", login="max", external_id="U2", host="T1")
    trigger = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=jo,
        thread=THREAD,
        request="go",
        others=(jo, max_),
    )
    people = {"U1": ALICE}
    known = with_forge_accounts(trigger, lambda one: people.get(one.external_id))
    assert known is not None
    assert trigger_actors(known) == (ALICE, max_)
    assert with_forge_accounts(trigger, lambda _: None) is None
