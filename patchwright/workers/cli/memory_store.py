"""The store of a run on the command line: its log in a file, the rest in memory."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.log import EventLog
from patchwright.core.plugin import ServiceProfile
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.resolver.run_store import (
    EarlierRun,
    JoinedRequest,
    LinkedThread,
    OtherConversation,
)
from patchwright.resolver.services import ChatServices


def open_budget(limits: LimitSettings) -> RunBudget:
    """Return the budget of one run; only the service has daily limits."""
    return RunBudget(
        limits.max_cost_usd,
        refuse_unknown=limits.unknown_price == "refuse",
        unknown_cost_per_token=limits.unknown_cost_per_token,
    )


class MemoryRunStore:
    """The `RunStore` of a single run: no request joins it, no run came before it."""

    def __init__(self, log: EventLog, redact: Callable[[JsonValue], JsonValue]) -> None:
        self._log, self._redact = log, redact
        self._kept: dict[str, bytes] = {}

    def open_log(self) -> EventLog:
        return self._log

    def redact(self, value: JsonValue) -> JsonValue:
        return self._redact(value)

    def keep(self, name: str, data: bytes) -> None:
        self._kept[name] = data

    def load_kept(self, name: str, run_id: JobId | None = None) -> bytes | None:
        return None if run_id else self._kept.get(name)

    def load_requests(self) -> tuple[JoinedRequest, ...]:
        return ()

    def settle_request(self, event_id: int) -> None:
        del event_id

    def settle(self, trigger: Trigger) -> None:
        del trigger

    def swap(self, joined: JoinedRequest, first: Trigger) -> None:
        raise LookupError(f"{joined.delivery} joined a run that is alone: {first.key}")

    def replace_thread(self, old: TalkThread, new: TalkThread) -> None:
        raise LookupError(
            f"{old.name} has no run here that could continue in {new.name}"
        )

    def load_threads(self) -> tuple[LinkedThread, ...]:
        return ()

    def link(self, thread: ThreadRef) -> ConversationId | None:
        del thread
        return None

    def move(
        self, trigger: Trigger, there: OtherConversation, *, joins: bool
    ) -> JobId | None:
        del trigger, there, joins
        return None

    def find_conversation(self, thread: ThreadRef) -> ConversationId | None:
        del thread
        return None

    def find_repository(
        self, conversation_id: ConversationId | None = None
    ) -> RepoRef | None:
        del conversation_id
        return None

    def open_budget(self, trigger: Trigger, limits: LimitSettings) -> RunBudget:
        del trigger
        return open_budget(limits)

    def closed_at(self, thread: ThreadRef) -> datetime | None:
        del thread
        return None

    def count_runs(self, since: datetime) -> int:
        del since
        return 1

    def count_automatic_runs(self, kind: TriggerKind, since: datetime) -> int:
        del kind, since
        return 0

    def list_since_last_request(self, kind: TriggerKind) -> tuple[EarlierRun, ...]:
        del kind
        return ()

    def list_outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def find_last_run(self) -> EarlierRun | None:
        return None

    def load_delivered(self, run_id: JobId) -> DeliveryResult:
        del run_id
        return DeliveryResult()


class _NoChoices:
    """`Choices` without any stored choice."""

    def get(self, scope: str, name: str) -> str | None:
        del scope, name
        return None

    def default_of(self, scope: str) -> RepoRef | None:
        del scope
        return None

    def put(self, scope: str, name: str, value: str, *, by: str, now: datetime) -> None:
        raise LookupError(f"{by} chose {name} for {scope} at {now}: {value}")


_NO_CHOICES: Final = _NoChoices()


def chat_services(forge: ServiceProfile) -> ChatServices:
    """Return the chat services of a run that comes from no chat and no ticket."""

    def find_person(actor: Actor) -> Actor | None:
        return actor if actor.service == forge.name else None

    return ChatServices(
        find_person=find_person,
        can_invite=False,
        invite=lambda _actor: None,
        renew=lambda _actor: None,
        needs_renewal=lambda _actor: False,
        find_places=lambda: ReferenceScope(
            forge=forge.name, web_url=forge.web_url, forms=forge.forms
        ),
        offer_to=lambda _actor: (),
        scope_of=lambda actor: f"{actor.service}:{actor.subject}",
        choices=_NO_CHOICES,
    )
