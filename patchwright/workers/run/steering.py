"""Judge what people say to a run, and put it into words for the model."""

from collections.abc import Callable

import structlog

from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError
from patchwright.core.events.types import AgentState, ChangeState, Event, Message
from patchwright.core.forge import Forge
from patchwright.core.text.commands import Verb, parse_command
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.admission import Admitted, Facts, Policy, admit
from patchwright.workers.store.requests import JoinedRequest

MAX_CHARS = 8_000

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
        joined_after: Callable[[int], tuple[JoinedRequest, ...]],
    ) -> None:
        self._forge, self._channel, self._policy = forge, channel, policy
        self._joined_after = joined_after

    def hear(self, event: Event) -> Message | ChangeState | None:
        """Judge a message of the log; one that nobody stands behind is not heard."""
        joined = self._joined_after(event.id - 1)
        request = next((one for one in joined if one.event_id == event.id), None)
        return self.judge(request.trigger) if request else None

    def judge(self, trigger: Trigger) -> Message | ChangeState | None:
        permission = known_permission(self._forge, trigger.thread.repo, trigger.actor)
        facts = Facts(actor=trigger.actor, permission=permission)
        if not isinstance(admit(facts, self._policy), Admitted):
            self._show(self._channel.decline, trigger)
            return None
        self._show(self._channel.acknowledge, trigger)
        command = parse_command(trigger.request)
        if command is not None and command.verb is Verb.STOP:
            who = f"@{trigger.actor.login}"
            return ChangeState(state=AgentState.STOPPED, reason=who)
        words = cut_middle(strip_hidden(trigger.request).text, MAX_CHARS)
        return Message(text=as_data("follow-up", trigger.actor.login, words))

    def _show(self, act: Callable[[Trigger], None], trigger: Trigger) -> None:
        try:
            act(trigger)
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason)
