"""Judge requests by the rules of the service and of the repository together."""

from collections.abc import Callable, Sequence
from typing import assert_never

from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import FollowUpTrigger, RepositoryConfig
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.admission import (
    Admitted,
    Declined,
    AdmissionFacts,
    Participant,
    AdmissionPolicy,
    admit,
    needs_permission,
)

FetchPermission = Callable[[Actor], Permission | None]


def service_policy(settings: Settings) -> AdmissionPolicy:
    """Return what whoever runs the service says of everybody."""
    security = settings.security
    return AdmissionPolicy(
        min_permission=security.min_permission,
        allow_users=frozenset(security.allow_users),
        allow_bots=frozenset(security.allow_bots),
        runs_per_thread_hour=settings.limits.runs_per_thread_hour,
        repositories_may_widen=frozenset(security.repositories_may_widen),
    )


def repository_policy(policy: AdmissionPolicy, config: RepositoryConfig) -> AdmissionPolicy:
    """Return the service's policy with what the repository says on top of it.

    `config` must come from the default branch, where only those write whom the
    repository trusts. Whoever runs the service may trust them less: his rules are a
    floor, under which a repository goes only where he says so.
    """
    widens = policy.repositories_may_widen
    users = config.allow_users if "allow_users" in widens else ()
    bots = config.allow_bots if "allow_bots" in widens else ()
    return AdmissionPolicy(
        forge=policy.forge,
        min_permission=_needed_permission(policy, config),
        allow_users=policy.allow_users.union(users),
        allow_bots=policy.allow_bots.union(bots),
        start_triggers=frozenset(config.triggers),
        runs_per_thread_hour=policy.runs_per_thread_hour,
        repositories_may_widen=widens,
    )


def refused_rules(policy: AdmissionPolicy, config: RepositoryConfig) -> tuple[str, ...]:
    """Return a sentence, after the name of the file, for each rule that is not kept."""
    held = repository_policy(policy, config)
    notes = []
    if config.min_permission not in (None, held.min_permission):
        notes.append(
            f"asks for `min_permission = {config.min_permission}`; this service asks "
            f"for {held.min_permission}."
        )
    for key, wanted, kept in (
        ("allow_users", config.allow_users, held.allow_users),
        ("allow_bots", config.allow_bots, held.allow_bots),
    ):
        if not {name.lower() for name in wanted} <= {name.lower() for name in kept}:
            notes.append(f"has names in `{key}` that this service does not let in.")
    return tuple(notes)


def _needed_permission(policy: AdmissionPolicy, config: RepositoryConfig) -> Permission:
    """Return the stricter of the two, unless the repository may ask for less."""
    wanted = config.min_permission
    if wanted is None:
        return policy.min_permission
    is_stricter = wanted.allows(policy.min_permission)
    may = is_stricter or "min_permission" in policy.repositories_may_widen
    return wanted if may else policy.min_permission


def start_trigger_of(kind: TriggerKind) -> FollowUpTrigger:
    match kind:
        case TriggerKind.BODY_MENTION | TriggerKind.COMMENT_MENTION | TriggerKind.REPLY:
            return FollowUpTrigger.MENTION
        case TriggerKind.LABEL:
            return FollowUpTrigger.LABEL
        case TriggerKind.ASSIGNMENT:
            return FollowUpTrigger.ASSIGNMENT
        case TriggerKind.REVIEW:
            return FollowUpTrigger.REVIEW
        case TriggerKind.CHECKS:
            return FollowUpTrigger.CHECKS
        case TriggerKind.CONFLICT:
            return FollowUpTrigger.CONFLICT
        case TriggerKind.MERGED:
            return FollowUpTrigger.CHECKS
        case _:
            assert_never(kind)


def trigger_actors(trigger: Trigger) -> tuple[Actor, ...]:
    """Return everybody who took part, the one whose words count first."""
    return tuple(dict.fromkeys((trigger.asker, *trigger.others)))


def with_forge_accounts(
    trigger: Trigger, find_person: Callable[[Actor], Actor | None]
) -> Trigger | None:
    """Return the request with everybody as the forge knows them, where it does.

    None if nobody knows who asks.
    """
    person = find_person(trigger.actor)
    if person is None:
        return None
    others = tuple(find_person(one) or one for one in trigger.others)
    return trigger.replace(person=person, others=others)


def check_access(
    actors: Sequence[Actor],
    policy: AdmissionPolicy,
    ask: FetchPermission,
    *,
    start_trigger: FollowUpTrigger | None = None,
    runs_in_thread_last_hour: int = 0,
) -> Admitted | Declined:
    """Judge everybody who took part, by what the forge says of them now.

    `ask` returns None for what could not be found out; bots and those who are named
    are not asked about.
    """
    first, *others = (
        Participant(
            actor=actor,
            permission=ask(actor) if needs_permission(actor, policy) else None,
        )
        for actor in actors
    )
    facts = AdmissionFacts(
        actor=first.actor,
        permission=first.permission,
        others=tuple(others),
        start_trigger=start_trigger,
        runs_in_thread_last_hour=runs_in_thread_last_hour,
    )
    return admit(facts, policy)
