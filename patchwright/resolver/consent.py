"""Who may read the texts of a run: consent, provenance, and redaction."""

from collections.abc import Iterator, Sequence

from patchwright.core.plugin import ServiceDirectory
from patchwright.core.types.base import ConversationId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    Thread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.guards.leaks import PrivateWords
from patchwright.resolver.job import Job
from patchwright.resolver.messages.pull_request import RequestOrigin
from patchwright.resolver.publish.destination import (
    PrivateContent,
    file_name_finder,
    quotation_finder,
    text_redactor,
    title_redactor,
)
from patchwright.resolver.run import Run
from patchwright.resolver.run_plan import RunPlan, issue_of
from patchwright.resolver.run_store import (
    LinkedThread,
    RunStore,
    consent_name,
    place_scope,
)
from patchwright.resolver.services import StepServices
from patchwright.resolver.visibility import (
    Consent,
    Question,
    RunVisibility,
    needs_consent,
    read_consent,
)


def find_visibility(services: StepServices, run: Run) -> RunVisibility | Question:
    """Return the visibility of a run, or the question to ask first.

    If nothing in the conversation is private, there is no question. In a thread of the
    forge nobody is asked: without consent from the private thread, private words are
    kept out. Raises `ServiceError`.
    """
    private = _private_thread(run)
    if private is None:
        return RunVisibility()
    repo = run.trigger.home
    is_private = services.code_host.forge.fetch_repository(repo).private
    consent = None if is_private else _consent(services, run, private)
    asked = needs_consent(
        private, repo, repository_is_private=is_private, remembered=consent
    )
    if asked and not run.trigger.thread.is_private:
        return RunVisibility(is_public=True, consent=Consent.KEEP_OUT)
    return asked or RunVisibility(is_public=not is_private, consent=consent)


def may_join(
    services: StepServices, job: Job, visibility: RunVisibility, into: ConversationId
) -> bool:
    """Tell whether a run of another conversation may read this request.

    It may not if that run is public and the request's words must be kept out.
    """
    name, choices = consent_name(job.trigger.home), services.chat.choices
    keeps_out = choices.get(_conversation_scope(into), name) == Consent.KEEP_OUT
    return keeps_out or not visibility.keeps_out


def copy_consent(services: StepServices, job: Job, into: ConversationId) -> None:
    """Copy the answer about private words to the conversation that gets the request.

    If that conversation already keeps private words out, this stays so.
    """
    name, choices = consent_name(job.trigger.home), services.chat.choices
    answer = choices.get(_conversation_scope(job.conversation_id), name)
    there = _conversation_scope(into)
    if answer is None or choices.get(there, name) == Consent.KEEP_OUT:
        return
    by = services.chat.scope_of(job.trigger.asker)
    choices.put(there, name, answer, by=by, now=services.clock.now())


def _conversation_scope(conversation_id: ConversationId) -> str:
    return f"conversation:{conversation_id}"


def _private_thread(run: Run) -> ThreadRef | None:
    """Return the thread of the request, or else a thread that is linked to it."""
    linked = run.store.load_threads()
    threads = (run.trigger.thread, *(one.ref for one in linked))
    return next((one for one in threads if one.is_private), None)


def _consent(services: StepServices, run: Run, private: ThreadRef) -> Consent | None:
    """Return the newest answer, or an earlier answer for the same place.

    Nobody can answer in a thread of the forge: people there may not be allowed to read
    the private thread.
    """
    name, choices = consent_name(run.trigger.home), services.chat.choices
    own, here = _conversation_scope(run.job.conversation_id), place_scope(private)
    replies = (
        one.request for one in (run.trigger, *run.answers) if one.thread.is_private
    )
    answers = [found for one in replies if (found := read_consent(one))]
    if answers:
        scopes = (own, here) if answers[-1].always else (own,)
        for scope in scopes:
            choices.put(
                scope,
                name,
                answers[-1].consent,
                by=services.chat.scope_of(run.trigger.asker),
                now=services.clock.now(),
            )
    stored = choices.get(own, name) or choices.get(here, name)
    return Consent(stored) if stored else None


def with_provenance(
    plan: RunPlan,
    directory: ServiceDirectory,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
    *,
    private_texts: tuple[str, ...] = (),
) -> RunPlan:
    """Return the plan with the provenance that readers of the change may see.

    `read` are the threads of the conversation that were read. `private_texts` are texts
    that were read in other, private repositories.
    """
    visibility, plan = plan.openness, plan.replace(issue=_issue_in(trigger, linked))
    if visibility.keeps_out:
        hidden = _hidden(directory, trigger, read, linked, private_texts)
        return plan.replace(hidden=hidden)
    for_some = visibility.is_public and _is_for_some(trigger, read)
    if texts := (*((trigger.text,) if for_some else ()), *private_texts):
        site = f"{directory.forge.web_url}/{trigger.home.full_name}"
        plan = plan.replace(hidden=PrivateContent(texts=texts, public_url=site))
    provenance = _find_provenance(directory, trigger, read, linked)
    return plan.replace(key=find_ticket_key(trigger, linked), origins=provenance)


def _is_for_some(trigger: Trigger, read: Sequence[Thread]) -> bool:
    """Tell whether only some readers of the ticket can see the comment that asks."""
    if trigger.thread.kind is not ThreadKind.TICKET:
        return False
    posts = (post for thread in read for post in thread.posts)
    return any(post.id == trigger.post_id and post.label for post in posts)


def with_name(trigger: Trigger, thread: Thread) -> Trigger:
    """Return the request with the author's name as the thread shows it."""
    own = trigger.actor
    authors = (post.author for post in thread.posts)
    found = next((one for one in authors if _is_same(one, own)), own)
    return trigger.replace(actor=found)


def _is_same(one: Actor, other: Actor) -> bool:
    return bool(one.external_id) and (one.service, one.external_id) == (
        other.service,
        other.external_id,
    )


def _issue_in(trigger: Trigger, linked: tuple[LinkedThread, ...]) -> int | None:
    """Return the issue of the repository that the conversation is about."""
    here = (
        one.ref
        for one in linked
        if isinstance(one.ref, ForgeThread) and one.ref.repo == trigger.home
    )
    found = (issue_of(one) for one in (trigger.thread, *here))
    return next((one for one in found if one is not None), None)


def find_ticket_key(trigger: Trigger, linked: tuple[LinkedThread, ...]) -> str:
    """Return the key of the ticket that the conversation is about, if there is one."""
    tickets = (
        one for one in _chat_threads(trigger, linked) if one.kind is ThreadKind.TICKET
    )
    return next((one.id for one in tickets), "")


def _find_provenance(
    directory: ServiceDirectory,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
) -> tuple[RequestOrigin, ...]:
    urls = {str(one.ref): one.url for one in read}
    found = []
    for ref in _chat_threads(trigger, linked):
        is_ticket = ref.kind is ThreadKind.TICKET
        service = directory.chats.get(ref.service)
        browse = service.ticket_url.format(id=ref.id) if service and is_ticket else ""
        if url := urls.get(str(ref)) or browse:
            name = ref.id if is_ticket else f"a thread in {ref.service.capitalize()}"
            found.append(RequestOrigin(name=name, url=url))
    return tuple(found)


def _hidden(
    directory: ServiceDirectory,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
    private_texts: tuple[str, ...],
) -> PrivateContent:
    """Return what a public repository must not repeat of private threads."""
    private = [one for one in read if one.ref.is_private]
    tickets = [
        one.id
        for one in _chat_threads(trigger, linked)
        if one.kind is ThreadKind.TICKET
    ]
    hosts = sorted({one.private_host for one in directory.chats.values()})
    return PrivateContent(
        texts=(*(text for one in private for text in _texts(one)), *private_texts),
        names=(*(name for one in private for name in _names(one)), *tickets),
        hosts=tuple(filter(None, hosts)),
        public_url=f"{directory.forge.web_url}/{trigger.home.full_name}",
    )


def with_private_requests(
    known: PrivateContent, said: Sequence[Trigger]
) -> PrivateContent:
    """Add the private requests that joined a running run."""
    private = [one for one in said if one.thread.is_private]
    texts = (text for one in private for text in (one.title, one.body, one.request))
    return known.replace(
        texts=(*known.texts, *texts),
        names=(*known.names, *(one.actor.login for one in private)),
    )


def _texts(thread: Thread) -> Iterator[str]:
    yield thread.title
    yield from (post.text for post in thread.posts)
    for relative in thread.linked_issues:
        yield from (relative.title, relative.text)


def _names(thread: Thread) -> Iterator[str]:
    people = (post.author for post in thread.posts)
    yield from (one.login for one in people if not one.is_bot)


def _chat_threads(
    trigger: Trigger, linked: tuple[LinkedThread, ...]
) -> tuple[TalkThread, ...]:
    threads: tuple[ThreadRef, ...] = (trigger.thread, *(one.ref for one in linked))
    by_key = {str(one): one for one in threads if isinstance(one, TalkThread)}
    return tuple(by_key.values())


class PrivateTextRedaction:
    """Redacts private words of one run; reads the joined requests again each time."""

    def __init__(self, store: RunStore, trigger: Trigger) -> None:
        self._store, self._trigger = store, trigger

    def applied_to(self, plan: RunPlan) -> RunPlan:
        """Return the plan with all private words that are known by now."""
        if plan.hidden is None:
            return plan
        joined = self._store.load_requests()
        hidden = with_private_requests(plan.hidden, [one.trigger for one in joined])
        return plan.replace(hidden=hidden)

    def redact_private(self, plan: RunPlan, text: str) -> str:
        return text_redactor(self.applied_to(plan).hidden)(text)

    def redact_private_title(self, plan: RunPlan, text: str) -> str:
        return title_redactor(self.applied_to(plan).hidden)(text)

    def private_words(self, plan: RunPlan) -> PrivateWords | None:
        """Return the words that no file may repeat.

        A thread that is private itself may show them in a patch.
        """
        hidden = self.applied_to(plan).hidden
        if hidden is None:
            return None
        is_private = self._trigger.thread.is_private
        return PrivateWords(
            find=quotation_finder(hidden),
            find_in_name=file_name_finder(hidden),
            are_known_here=is_private,
        )
