"""Find out whether private words may appear in a repository that everybody reads."""

from patchwright.core.types.ids import ConversationId
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.placing.asking import Question
from patchwright.resolver.placing.consent import Consent, needs_consent, read_consent
from patchwright.resolver.placing.openness import RunVisibility
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.choices import consent_name, place_scope
from patchwright.workers.store.job import Job


def find_visibility(
    services: RunServices, job: Job, answers: list[Trigger]
) -> RunVisibility | Question:
    """Return what holds for a run, or what must be asked before it; `ServiceError`.

    Where nothing of the conversation is private there is nothing to ask. Beside the
    code nobody is asked: without a word from the private side it is kept out.
    """
    private = _private_thread(services, job)
    if private is None:
        return RunVisibility()
    repo = job.trigger.home
    is_private = services.code_host.forge.fetch_repository(repo).private
    consent = None if is_private else _consent(services, job, private, answers)
    asked = needs_consent(
        private, repo, repository_is_private=is_private, remembered=consent
    )
    if asked and not isinstance(job.trigger.thread, TalkThread):
        return RunVisibility(is_public=True, consent=Consent.KEEP_OUT)
    return asked or RunVisibility(is_public=not is_private, consent=consent)


def may_join(
    services: RunServices, job: Job, openness: RunVisibility, into: ConversationId
) -> bool:
    """Tell whether a run of another conversation may be told what the request says.

    Not one that shows what it does to everybody, if that is to be kept out.
    """
    name, choices = consent_name(job.trigger.home), services.chat.choices
    keeps_out = choices.get(_conversation_scope(into), name) == Consent.KEEP_OUT
    return keeps_out or not openness.keeps_out


def copy_consent(services: RunServices, job: Job, into: ConversationId) -> None:
    """Let what was answered hold in the conversation where the request goes on.

    There, what was to be kept out is kept out.
    """
    name, choices = consent_name(job.trigger.home), services.chat.choices
    kept = choices.get(_conversation_scope(job.conversation_id), name)
    there = _conversation_scope(into)
    if kept is None or choices.get(there, name) == Consent.KEEP_OUT:
        return
    by = services.chat.scope_of(job.trigger.asker)
    choices.put(there, name, kept, by=by, now=services.clock.now())


def _conversation_scope(conversation_id: ConversationId) -> str:
    return f"conversation:{conversation_id}"


def _private_thread(services: RunServices, job: Job) -> TalkThread | None:
    """Return the thread of the request, or else one that is tied to it."""
    linked = services.stores.threads.threads_of(job.conversation_id)
    threads = (job.trigger.thread, *(one.ref for one in linked))
    return next((one for one in threads if isinstance(one, TalkThread)), None)


def _consent(
    services: RunServices, job: Job, private: TalkThread, answers: list[Trigger]
) -> Consent | None:
    """Return the newest answer, or what was said before in the same place.

    Beside the code nobody can give it: who writes there may not read what is private.
    """
    name, choices = consent_name(job.trigger.home), services.chat.choices
    own, here = _conversation_scope(job.conversation_id), place_scope(private)
    words = (
        one.request
        for one in (job.trigger, *answers)
        if isinstance(one.thread, TalkThread)
    )
    said = [found for one in words if (found := read_consent(one))]
    if said:
        scopes = (own, here) if said[-1].always else (own,)
        for scope in scopes:
            choices.put(
                scope,
                name,
                said[-1].consent,
                by=services.chat.scope_of(job.trigger.asker),
                now=services.clock.now(),
            )
    kept = choices.get(own, name) or choices.get(here, name)
    return Consent(kept) if kept else None
