"""Decide whether a request may start a run."""

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission


class Policy(Value):
    """Who may ask, and how often; from the settings."""

    min_permission: Permission = Permission.WRITE
    allow_users: frozenset[str] = frozenset()
    allow_bots: frozenset[str] = frozenset()
    runs_per_thread_hour: int = 10


class Facts(Value):
    """What is known about a request.

    `permission` is None when the forge could not say, whatever the reason.
    """

    actor: Actor
    permission: Permission | None
    runs_in_thread_last_hour: int = 0


class Admitted(Value):
    """The run may start; `why` says which rule let it in."""

    why: str


class Declined(Value):
    """The run may not start. A quiet refusal is shown by a reaction alone."""

    reason: str
    text: str
    quiet: bool


def admit(facts: Facts, policy: Policy) -> Admitted | Declined:
    """Judge a request; what is not known counts against it."""
    if facts.runs_in_thread_last_hour >= policy.runs_per_thread_hour:
        return Declined(
            reason="too-many-runs",
            text=f"This thread has had {facts.runs_in_thread_last_hour} runs within an "
            f"hour; the limit is {policy.runs_per_thread_hour}. Ask again later, or "
            "raise `limits.runs_per_thread_hour`.",
            quiet=False,
        )
    if facts.actor.is_bot:
        return _judge_bot(facts.actor, policy)
    if facts.actor.login.lower() in _lowered(policy.allow_users):
        return Admitted(why="named in `security.allow_users`")
    if facts.permission is None:
        return Declined(
            reason="permission-unknown",
            text=f"What @{facts.actor.login} may do in this repository could not be "
            "found out, so nothing was started. Ask again in a while.",
            quiet=False,
        )
    if not facts.permission.allows(policy.min_permission):
        return Declined(
            reason="not-permitted",
            text=f"{facts.actor.login} has {facts.permission} permission here; "
            f"{policy.min_permission} is needed.",
            quiet=True,
        )
    return Admitted(why=f"has {facts.permission} permission")


def _judge_bot(actor: Actor, policy: Policy) -> Admitted | Declined:
    if _bare(actor.login) in {_bare(name) for name in policy.allow_bots}:
        return Admitted(why="named in `security.allow_bots`")
    text = f"{actor.login} is a bot that is not named in `security.allow_bots`."
    return Declined(reason="bot-not-named", text=text, quiet=True)


def _bare(login: str) -> str:
    """GitHub writes `name[bot]` where people write `name`."""
    return login.lower().removesuffix("[bot]")


def _lowered(names: frozenset[str]) -> set[str]:
    return {name.lower() for name in names}
