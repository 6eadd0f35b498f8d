"""Decide whether a request may start a run, or steer one."""

from collections.abc import Callable, Sequence
from typing import assert_never

from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import FollowUpTrigger, RepositoryConfig
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import USUAL_FORMS, ForgeForms
from patchwright.core.types.triggers import Trigger, TriggerKind


class AdmissionPolicy(Value):
    """Who may start runs, and how often: by the service and by the repository.

    All names are names on `forge`: on other services anybody can choose such a name.
    `forms` have its words for permissions.
    Without `start_triggers` every trigger may start a run. A repository can only make
    these rules stricter, except for the keys in `repositories_may_widen`.
    """

    forge: str
    forms: ForgeForms = USUAL_FORMS
    min_permission: Permission = Permission.WRITE
    allow_users: frozenset[str] = frozenset()
    allow_bots: frozenset[str] = frozenset()
    start_triggers: frozenset[FollowUpTrigger] | None = None
    runs_per_thread_hour: int = 10
    repositories_may_widen: frozenset[str] = frozenset()


class Participant(Value):
    """Somebody who took part in a request.

    `permission` is None when the forge gave no answer, for any reason.
    """

    actor: Actor
    permission: Permission | None = None


class AdmissionFacts(Value):
    """What is known about a request: who asks, and who else took part.

    Without a `start_trigger` the request starts no run: it steers a running one.
    """

    actor: Actor
    permission: Permission | None
    others: tuple[Participant, ...] = ()
    start_trigger: FollowUpTrigger | None = None
    runs_in_thread_last_hour: int = 0


class Admitted(Value):
    """The run may start; `why` names the rule that allows it."""

    why: str


class Declined(Value):
    """The run may not start.

    A quiet refusal is shown only by a reaction. A silent refusal is not shown: two bots
    must not answer each other without end, and a person who did not mention the bot
    expects no answer. The text mentions the person with the login `by`.
    """

    reason: str
    text: str
    quiet: bool
    silent: bool = False
    by: str = ""


def admit(facts: AdmissionFacts, policy: AdmissionPolicy) -> Admitted | Declined:
    """Decide about a request; an unknown permission counts as no permission."""
    verdict = _judge(facts, policy)
    # A reviewer who did not mention the bot needs no answer.
    is_uncalled = facts.start_trigger is FollowUpTrigger.REVIEW
    if is_uncalled and isinstance(verdict, Declined) and verdict.quiet:
        return verdict.replace(silent=True)
    return verdict


def _judge(facts: AdmissionFacts, policy: AdmissionPolicy) -> Admitted | Declined:
    asker = Participant(actor=facts.actor, permission=facts.permission)
    verdicts = [_judge_one(one, policy) for one in (asker, *facts.others)]
    declined = [one for one in verdicts if isinstance(one, Declined)]
    # Bots come before people: if one refusal is silent, the whole answer is silent.
    silent = next((one for one in declined if one.silent), None)
    if found := silent or _judge_start_trigger(facts, policy):
        return found
    if declined:
        return declined[0]
    return _judge_rate(facts, policy) or verdicts[0]


def _judge_start_trigger(
    facts: AdmissionFacts, policy: AdmissionPolicy
) -> Declined | None:
    if facts.start_trigger is None or policy.start_triggers is None:
        return None
    if facts.start_trigger in policy.start_triggers:
        return None
    text = f"`{facts.start_trigger}` is not among the `triggers` of this repository."
    return Declined(reason="trigger-off", text=text, quiet=True)


def _judge_rate(facts: AdmissionFacts, policy: AdmissionPolicy) -> Declined | None:
    if facts.runs_in_thread_last_hour < policy.runs_per_thread_hour:
        return None
    return Declined(
        reason="too-many-runs",
        text=f"This thread has had {facts.runs_in_thread_last_hour} runs within an "
        f"hour; the limit is {policy.runs_per_thread_hour} "
        "(`limits.runs_per_thread_hour`). Ask again later.",
        # A bot would reply to the answer.
        quiet=facts.actor.is_bot,
    )


def _judge_one(one: Participant, policy: AdmissionPolicy) -> Admitted | Declined:
    login, permission, forms = one.actor.login, one.permission, policy.forms
    if one.actor.is_operator:
        return Admitted(why=f"{login} may steer every run")
    if one.actor.is_bot:
        return _judge_bot(one.actor, policy)
    if not _is_of_forge(one.actor, policy):
        return _unknown_there(one.actor)
    if _is_named(one.actor, policy):
        return Admitted(why=f"{login} is named in `allow_users`")
    if permission is None:
        return Declined(
            reason="permission-unknown",
            text=f"The permission of @{login} in this repository could not be read, so "
            "nothing was started. Ask again later.",
            quiet=False,
            by=login,
        )
    if not permission.allows(policy.min_permission):
        return Declined(
            reason="not-permitted",
            text=f"{login} has {forms.access(permission)} access here; "
            f"{forms.access(policy.min_permission)} access is needed.",
            quiet=True,
        )
    return Admitted(why=f"{login} has {forms.access(permission)} access")


def _judge_bot(bot: Actor, policy: AdmissionPolicy) -> Admitted | Declined:
    is_named = _bare(bot.login) in {_bare(name) for name in policy.allow_bots}
    if is_named and _is_of_forge(bot, policy):
        return Admitted(why=f"{bot.login} is named in `allow_bots`")
    text = (
        f"{bot.login} is a bot that is named neither in `security.allow_bots` nor in "
        "the repository's `allow_bots`."
    )
    return Declined(reason="bot-not-named", text=text, quiet=True, silent=True)


def _unknown_there(actor: Actor) -> Declined:
    text = (
        f"{actor.login} took part in this request, and the forge account of this "
        "person is not known. So nothing was started."
    )
    return Declined(reason="not-linked", text=text, quiet=False)


def needs_permission(actor: Actor, policy: AdmissionPolicy) -> bool:
    """Tell whether the forge must be asked: not for bots or for people in the lists."""
    is_asked_about = _is_of_forge(actor, policy) and not actor.is_bot
    return is_asked_about and not _is_named(actor, policy)


def _is_of_forge(actor: Actor, policy: AdmissionPolicy) -> bool:
    return actor.service == policy.forge


def _is_named(actor: Actor, policy: AdmissionPolicy) -> bool:
    return actor.login.lower() in {name.lower() for name in policy.allow_users}


def _bare(login: str) -> str:
    """GitHub writes `name[bot]` where people write `name`."""
    return login.lower().removesuffix("[bot]")


FetchPermission = Callable[[Actor], Permission | None]


def service_policy(
    settings: Settings, forge: str, forms: ForgeForms = USUAL_FORMS
) -> AdmissionPolicy:
    """Return the rules of the service's settings, which hold for every repository."""
    security = settings.security
    return AdmissionPolicy(
        forge=forge,
        forms=forms,
        min_permission=security.min_permission,
        allow_users=frozenset(security.allow_users),
        allow_bots=frozenset(security.allow_bots),
        runs_per_thread_hour=settings.limits.runs_per_thread_hour,
        repositories_may_widen=frozenset(security.repositories_may_widen),
    )


def repository_policy(
    policy: AdmissionPolicy, config: RepositoryConfig
) -> AdmissionPolicy:
    """Return the service's policy together with the repository's configuration.

    `config` must come from the default branch, where only trusted people write. The
    operator of the service may trust them less: the service's rules are the minimum. A
    repository goes below the minimum only where the settings allow it.
    """
    widens = policy.repositories_may_widen
    users = config.allow_users if "allow_users" in widens else ()
    bots = config.allow_bots if "allow_bots" in widens else ()
    return AdmissionPolicy(
        forge=policy.forge,
        forms=policy.forms,
        min_permission=_needed_permission(policy, config),
        allow_users=policy.allow_users.union(users),
        allow_bots=policy.allow_bots.union(bots),
        start_triggers=frozenset(config.triggers),
        runs_per_thread_hour=policy.runs_per_thread_hour,
        repositories_may_widen=widens,
    )


def refused_rules(policy: AdmissionPolicy, config: RepositoryConfig) -> tuple[str, ...]:
    """Return the end of a sentence for each rule that the service does not accept.

    Each sentence begins with the name of the configuration file.
    """
    held = repository_policy(policy, config)
    notes = []
    if config.min_permission not in (None, held.min_permission):
        notes.append(
            f"asks for `min_permission = {config.min_permission}`; this service asks "
            f"for {held.min_permission}."
        )
    for key, wanted, allowed in (
        ("allow_users", config.allow_users, held.allow_users),
        ("allow_bots", config.allow_bots, held.allow_bots),
    ):
        if not {name.lower() for name in wanted} <= {name.lower() for name in allowed}:
            notes.append(f"has names in `{key}` that this service does not accept.")
    return tuple(notes)


def _needed_permission(policy: AdmissionPolicy, config: RepositoryConfig) -> Permission:
    """Return the stricter permission, unless the repository may ask for less."""
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
        case TriggerKind.MERGED | TriggerKind.PUSHED:
            return FollowUpTrigger.CHECKS
        case _:
            assert_never(kind)


def trigger_actors(trigger: Trigger) -> tuple[Actor, ...]:
    """Return everybody who took part; the person who asks comes first."""
    return tuple(dict.fromkeys((trigger.asker, *trigger.others)))


def with_forge_accounts(
    trigger: Trigger, find_person: Callable[[Actor], Actor | None]
) -> Trigger | None:
    """Return the request with the forge account of each person, where it is known.

    Returns None if the account of the person who asks is not known.
    """
    asker = trigger.actor
    person = asker if asker.is_operator else find_person(asker)
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
    """Check everybody who took part, by their permissions on the forge now.

    `ask` returns None for an unknown permission. It is not called for bots and for
    people in the lists.
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
