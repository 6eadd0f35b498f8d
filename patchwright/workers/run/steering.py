"""Judge what people say to a run, and put it into words for the model."""

from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from patchwright.core.agent.chronicle import Heard
from patchwright.core.background import start
from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    ConfirmationAsked,
    Event,
    Message,
    RaiseLimits,
)
from patchwright.core.forge import Forge
from patchwright.core.text.commands import Command, Verb, parse_command
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.admission import Admitted, Facts, Policy, admit
from patchwright.workers.store.requests import JoinedRequest

MAX_CHARS = 8_000
_STATES: Final = {
    Verb.STOP: AgentState.STOPPED,
    Verb.PAUSE: AgentState.PAUSED,
    Verb.RESUME: AgentState.RUNNING,
    Verb.RETRY: AgentState.RUNNING,
    Verb.APPROVE: AgentState.USER_CONFIRMED,
    Verb.REJECT: AgentState.USER_REJECTED,
}
_ANSWERS: Final = frozenset({Verb.APPROVE, Verb.REJECT})

log = structlog.get_logger(__name__)


def known_permission(forge: Forge, repo: RepoRef, actor: Actor) -> Permission | None:
    """Return what the forge says, or None if it does not say."""
    try:
        return forge.fetch_permission(repo, actor)
    except ServiceError as error:
        log.warning("permission_unknown", reason=error.reason, login=actor.login)
        return None


class Steering:
    """Lets those steer a run who could have started it."""

    def __init__(
        self,
        forge: Forge,
        channel: Channel,
        policy: Policy,
        log: EventLog,
        joined_after: Callable[[int], tuple[JoinedRequest, ...]],
    ) -> None:
        self._forge, self._channel, self._policy = forge, channel, policy
        self._joined_after = joined_after
        self._log = log

    def hear(self, event: Event) -> Heard | None:
        """Judge a message of the log; one that nobody stands behind is not heard."""
        joined = self._joined_after(event.id - 1)
        request = next((one for one in joined if one.event_id == event.id), None)
        return self.judge(request.trigger, event.id) if request else None

    def judge(self, trigger: Trigger, event_id: int) -> Heard | None:
        """Judge what somebody has said with the event of that id."""
        permission = known_permission(self._forge, trigger.thread.repo, trigger.actor)
        facts = Facts(actor=trigger.actor, permission=permission)
        if not isinstance(admit(facts, self._policy), Admitted):
            self._show(self._channel.decline, trigger)
            return None
        # A reaction takes its time, and who says stop must not wait for it.
        start(partial(self._show, self._channel.acknowledge, trigger))
        command = parse_command(trigger.request)
        if command is not None:
            return self._obey(command, f"@{trigger.actor.login}", event_id)
        words = cut_middle(strip_hidden(trigger.request).text, MAX_CHARS)
        return Message(text=as_data("follow-up", trigger.actor.login, words))

    def _obey(self, command: Command, who: str, event_id: int) -> Heard | None:
        """Return what a command does to a run; the others are for its readers."""
        if command.verb is Verb.BUDGET:
            return RaiseLimits(cost_usd=float(command.argument), reason=who)
        state = _STATES.get(command.verb)
        if state is None:
            return None
        digest = self._asked_before(event_id) if command.verb in _ANSWERS else ""
        return ChangeState(state=state, reason=who, digest=digest)

    def _asked_before(self, event_id: int) -> str:
        """Return the digest of the action that the person had been shown."""
        kinds = frozenset({"confirmation_asked"})
        asked = self._log.read(1, event_id, limit=1, reverse=True, kinds=kinds)
        found = [e.payload for e in asked if isinstance(e.payload, ConfirmationAsked)]
        return found[0].digest if found else ""

    def _show(self, act: Callable[[Trigger], None], trigger: Trigger) -> None:
        try:
            act(trigger)
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason)
