"""Judge requests by the rules of the service and of the repository together."""

from collections.abc import Callable, Sequence
from typing import assert_never

from patchwright.core.settings.repository import Occasion, RepositoryConfig
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.admission import (
    Admitted,
    Declined,
    Facts,
    Involved,
    Policy,
    admit,
    needs_permission,
)

Ask = Callable[[Actor], Permission | None]


def policy_for(policy: Policy, config: RepositoryConfig) -> Policy:
    """Return the service's policy with what the repository says on top of it.

    `config` must come from the default branch, where only those write whom the
    repository trusts.
    """
    return policy.model_copy(
        update={
            "min_permission": config.min_permission or policy.min_permission,
            "allow_users": policy.allow_users | set(config.allow_users),
            "allow_bots": policy.allow_bots | set(config.allow_bots),
            "occasions": frozenset(config.triggers),
        }
    )


def occasion_of(kind: TriggerKind) -> Occasion:
    match kind:
        case TriggerKind.BODY_MENTION | TriggerKind.COMMENT_MENTION | TriggerKind.REPLY:
            return Occasion.MENTION
        case TriggerKind.LABEL:
            return Occasion.LABEL
        case TriggerKind.ASSIGNMENT:
            return Occasion.ASSIGNMENT
        case TriggerKind.REVIEW:
            return Occasion.REVIEW
        case TriggerKind.CHECKS:
            return Occasion.CHECKS
        case TriggerKind.CONFLICT:
            return Occasion.CONFLICT
        case TriggerKind.MERGED:
            return Occasion.CHECKS
        case _:
            assert_never(kind)


def actors_of(trigger: Trigger) -> tuple[Actor, ...]:
    """Return everybody who took part, the one whose words count first."""
    return tuple(dict.fromkeys((trigger.asker, *trigger.others)))


def as_known(
    trigger: Trigger, find_person: Callable[[Actor], Actor | None]
) -> Trigger | None:
    """Return the request with everybody as the forge knows them, where it does.

    None if nobody knows who asks.
    """
    person = find_person(trigger.actor)
    if person is None:
        return None
    others = tuple(find_person(one) or one for one in trigger.others)
    return trigger.model_copy(update={"person": person, "others": others})


def judge(
    actors: Sequence[Actor],
    policy: Policy,
    ask: Ask,
    *,
    occasion: Occasion | None = None,
    runs_in_thread_last_hour: int = 0,
) -> Admitted | Declined:
    """Judge everybody who took part, by what the forge says of them now.

    `ask` returns None for what could not be found out; bots and those who are named
    are not asked about.
    """
    first, *others = (
        Involved(
            actor=actor,
            permission=ask(actor) if needs_permission(actor, policy) else None,
        )
        for actor in actors
    )
    facts = Facts(
        actor=first.actor,
        permission=first.permission,
        others=tuple(others),
        occasion=occasion,
        runs_in_thread_last_hour=runs_in_thread_last_hour,
    )
    return admit(facts, policy)
