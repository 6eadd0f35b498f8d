"""The service's rules and the repository's, together."""

import pytest

from patchwright.core.settings.repository import Occasion, RepositoryConfig
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.admission import Admitted, Declined, Policy
from patchwright.resolver.house import (
    actors_of,
    as_known,
    judge,
    occasion_of,
    policy_for,
)

ALICE = Actor(service="github", login="alice", external_id="1")
EVE = Actor(service="github", login="eve", external_id="2")
ROBOT = Actor(service="github", login="robot[bot]", is_bot=True)
THREAD = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"), kind=ThreadKind.ISSUE, number=1
)
SERVICE = Policy(allow_users=frozenset({"root"}), allow_bots=frozenset({"renovate"}))


def refuse_to_say(actor: Actor) -> Permission | None:
    raise AssertionError(f"nobody was to ask about {actor.login}")


def test_a_repository_that_says_nothing_adds_nothing_but_its_triggers() -> None:
    policy = policy_for(SERVICE, RepositoryConfig())
    assert policy == SERVICE.model_copy(
        update={"occasions": frozenset(RepositoryConfig().triggers)}
    )
    assert Occasion.REVIEW not in (policy.occasions or ())


def test_lists_are_added_and_the_permission_is_the_repositorys() -> None:
    config = RepositoryConfig(
        allow_users=("eve",), allow_bots=("robot",), min_permission=Permission.ADMIN
    )
    policy = policy_for(SERVICE, config)
    assert policy.allow_users == {"root", "eve"}
    assert policy.allow_bots == {"renovate", "robot"}
    assert policy.min_permission is Permission.ADMIN


@pytest.mark.parametrize("kind", TriggerKind)
def test_every_trigger_has_its_occasion(kind: TriggerKind) -> None:
    expected = "mention" if kind.endswith("-mention") else kind
    others = {TriggerKind.REPLY: "mention", TriggerKind.MERGED: "checks"}
    assert occasion_of(kind) == others.get(kind, expected)


def test_whoever_took_part_twice_is_judged_once() -> None:
    trigger = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=EVE,
        thread=THREAD,
        request="go",
        others=(ALICE, EVE),
    )
    assert actors_of(trigger) == (EVE, ALICE)


def test_only_those_whose_permission_matters_are_asked_about() -> None:
    policy = Policy(allow_users=frozenset({"alice"}), allow_bots=frozenset({"robot"}))
    assert isinstance(judge((ALICE, ROBOT), policy, refuse_to_say), Admitted)
    judged = judge((ROBOT,), Policy(), refuse_to_say)
    assert isinstance(judged, Declined)
    assert judged.silent


def test_s11_the_one_who_spoke_is_judged_and_named() -> None:
    rights = {"alice": Permission.WRITE, "eve": Permission.READ}
    policy = Policy()
    by_maintainer = judge((ALICE,), policy, lambda actor: rights[actor.login])
    assert by_maintainer == Admitted(why="alice has write permission")
    by_author = judge((EVE,), policy, lambda actor: rights[actor.login])
    assert isinstance(by_author, Declined)
    assert by_author.text == "eve has read permission here; write is needed."


@pytest.mark.parametrize("service", ["slack", "jira"])
def test_a_name_from_elsewhere_has_no_rights_here(service: str) -> None:
    """Anybody can call themselves `alice` in Slack or Jira."""
    impostor = Actor(service=service, login="alice", external_id="U1", host="T1")
    robot = impostor.model_copy(update={"login": "renovate", "is_bot": True})
    policy = Policy(
        allow_users=frozenset({"alice"}), allow_bots=frozenset({"renovate"})
    )
    for actors in ((impostor,), (ALICE, impostor), (robot,), (ALICE, robot)):
        assert isinstance(judge(actors, policy, refuse_to_say), Declined)


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
    known = as_known(trigger, lambda one: people.get(one.external_id))
    assert known is not None
    assert actors_of(known) == (ALICE, max_)
    assert as_known(trigger, lambda _: None) is None
