"""Start, tell and steer runs, on the way that forms and comments take."""

import hashlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from patchwright.core.plugin import ServiceProfile
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import ConversationId, Ids
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef
from patchwright.core.webhook import Delivery, DeliveryVerdict, InboxResult
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.api.conversations import VisibleConversations
from patchwright.workers.api.operations import (
    AnyOperation,
    BodyT,
    Call,
    NoInput,
    write_operation,
)
from patchwright.workers.api.problems import ApiError, invalid_input, not_allowed
from patchwright.workers.api.queries import find_requests, list_job_ids
from patchwright.workers.api.schemas import (
    AcceptedRequest,
    BudgetChange,
    NewConversation,
    NewMessage,
    Reason,
)
from patchwright.workers.runs.commands import (
    CommandInputError,
    CommandOrigin,
    RunAct,
    RunCommands,
    command_text,
)
from patchwright.workers.runs.requests import (
    RequestedRun,
    RequestInput,
    make_request_delivery,
    requested_thread,
    validate_request,
)

# Longer than the database takes to say that it does not answer.
_STORED_WITHIN_S: Final = 30.0
_OTHER_BODY: Final = ApiError(
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "key-used",
    "This Idempotency-Key was sent before with another body. Use a new key for a new "
    "request.",
)
_NO_IDENTITY: Final = (
    "A request is made in the name of somebody whom the forge knows. Sign in with your "
    "account there, or use an API token of an account that has one."
)


@dataclass(frozen=True)
class RequestWriter:
    """Writes requests into the inbox, each key once.

    `may_read` may take a while, and so do `find_conversation` and `find_run`, which
    know the threads.
    """

    conversations: VisibleConversations
    commands: RunCommands
    submit: Callable[[Delivery], "Future[InboxResult]"]
    may_read: Callable[[RepoRef, Actor], bool]
    find_conversation: Callable[[ForgeThread], ConversationId | None]
    forge: ServiceProfile
    clock: Clock
    ids: Ids

    def start_conversation(
        self, call: Call[NoInput, NewConversation]
    ) -> AcceptedRequest:
        """Start a run for a request."""
        person = call.principal.identity
        if person is None:
            raise not_allowed(_NO_IDENTITY)
        wanted = self._validate(call.body, person)
        message_id = self._message_id(call, "start")
        if earlier := self._find_earlier("", message_id):
            return earlier
        delivery = make_request_delivery(
            CommandOrigin.API, message_id, wanted, person, self.clock.now()
        )
        stored = self.submit(delivery).result(_STORED_WITHIN_S)
        if stored.verdict is DeliveryVerdict.DUPLICATE:
            # Another request with the same key was a little quicker.
            return self._find_earlier("", message_id) or _accepted(stored)
        if stored.conversation_id is None:
            found = self.find_conversation(requested_thread(wanted, message_id))
            return _accepted(stored).replace(conversation_id=found)
        return _accepted(stored)

    def send_message(self, call: Call[NoInput, NewMessage]) -> AcceptedRequest:
        """Tell a run something, answer its question, or ask for more."""
        return self._act(call, RunAct.MESSAGE, call.body.text)

    def approve(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Approve the plan that the run shows."""
        return self._act(call, RunAct.APPROVE)

    def reject(self, call: Call[NoInput, Reason]) -> AcceptedRequest:
        """Reject the plan or the risky action that the run shows."""
        return self._act(call, RunAct.REJECT, call.body.reason)

    def confirm(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Confirm the risky action that the run shows."""
        return self._act(call, RunAct.CONFIRM)

    def stop(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Stop the run; the work so far is kept."""
        return self._act(call, RunAct.STOP)

    def pause(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Pause the run."""
        return self._act(call, RunAct.PAUSE)

    def resume(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Let the paused run continue."""
        return self._act(call, RunAct.RESUME)

    def retry(self, call: Call[NoInput, NoInput]) -> AcceptedRequest:
        """Start a run again for the same request."""
        return self._act(call, RunAct.RETRY)

    def change_budget(self, call: Call[NoInput, BudgetChange]) -> AcceptedRequest:
        """Change how much the run may cost."""
        return self._act(call, RunAct.BUDGET, call.body.amount)

    def _act(
        self, call: Call[NoInput, BodyT], act: RunAct, typed: str = ""
    ) -> AcceptedRequest:
        """Send what a comment in the run's thread would say."""
        job = self.conversations.find_run(call.principal, call.id)
        by = self._steerer(call.principal, job)
        try:
            text = command_text(act, typed)
        except CommandInputError as error:
            raise invalid_input("body", str(error)) from error
        message_id = self._message_id(call, act)
        if call.key and (earlier := self._find_sent(job, message_id)):
            return earlier
        sent = self.commands.send(job, text, by, message_id)
        stored = sent.result(_STORED_WITHIN_S)
        return self._find_earlier(f"{job.id}:", message_id) or _accepted(stored)

    def _find_sent(self, newest: Job, message_id: str) -> AcceptedRequest | None:
        """Return the answer to the same act; since then there may be a newer run."""
        runs = self.conversations.runs
        for job_id in list_job_ids(runs.database, newest.conversation_id):
            if earlier := self._find_earlier(f"{job_id}:", message_id):
                return earlier
            job = runs.reader.jobs.load(job_id)
            retried = job and self.commands.find_earlier(job, message_id)
            if retried:
                return _accepted(retried)
        return None

    def _validate(self, body: NewConversation, person: Actor) -> RequestedRun:
        typed = RequestInput(
            where=body.repository.strip(),
            text=body.text.strip(),
            plan_first=body.plan_first,
        )
        judged = validate_request(typed, self.forge)
        if isinstance(judged, str):
            raise invalid_input("body", judged)
        if not self.may_read(judged.repo, person):
            name = judged.repo.full_name
            raise invalid_input(
                "body.repository",
                f"there is no repository {name}, or you cannot read it",
            )
        return judged

    def _steerer(self, principal: Principal, job: Job) -> Actor:
        by = self.conversations.runs.access.steerer(principal, job)
        if by is None:
            place = job.trigger.place
            where = place.full_name if place else "the repository"
            raise not_allowed(
                f"This takes write access to {where} with your account on the forge."
            )
        return by

    def _message_id(self, call: Call[NoInput, BodyT], act: str) -> str:
        """Return the id of a request: the same for the same key, sender and body.

        Its first half is the same for each body.
        """
        key = call.key or self.ids.new()
        whose = _digest(f"{call.principal.key} {act} {call.id} {key}")
        return f"{whose}-{_digest(call.body.model_dump_json())}"

    def _find_earlier(self, prefix: str, message_id: str) -> AcceptedRequest | None:
        """Return the answer to the same request; raises where its key was for another.

        `prefix` is what stands before the message's id in that of the delivery.
        """
        known = find_requests(
            self.conversations.runs.database,
            CommandOrigin.API,
            f"{prefix}{message_id.partition('-')[0]}-",
        )
        for one in known:
            if one.delivery_id != f"{prefix}{message_id}":
                raise _OTHER_BODY
            return AcceptedRequest(
                conversation_id=one.conversation_id,
                run_id=one.run_id,
                verdict=one.verdict,
            )
        return None


_DIGEST_CHARS: Final = 40


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def _accepted(stored: InboxResult) -> AcceptedRequest:
    # An operator's retry is no delivery: sent again, it is the run that it started.
    is_again = stored.verdict is DeliveryVerdict.DUPLICATE
    return AcceptedRequest(
        conversation_id=stored.conversation_id,
        run_id=stored.job_id,
        verdict=DeliveryVerdict.ACCEPTED if is_again else stored.verdict,
    )


_PATH: Final = "/api/conversations"


def request_operations(own: RequestWriter) -> tuple[AnyOperation, ...]:
    return (
        write_operation(
            _PATH, own.start_conversation, NewConversation, AcceptedRequest
        ),
        _act("message", own.send_message, NewMessage),
        _act("approve", own.approve, NoInput),
        _act("reject", own.reject, Reason),
        _act("confirm", own.confirm, NoInput),
        _act("stop", own.stop, NoInput),
        _act("pause", own.pause, NoInput),
        _act("resume", own.resume, NoInput),
        _act("retry", own.retry, NoInput),
        _act("budget", own.change_budget, BudgetChange),
    )


def _act(
    word: str,
    handle: Callable[[Call[NoInput, BodyT]], AcceptedRequest],
    body: type[BodyT],
) -> AnyOperation:
    return write_operation(f"{_PATH}/{{id}}/{word}", handle, body, AcceptedRequest)
