"""Say what a change answers, and what of that nobody else may read."""

from collections.abc import Iterator, Sequence

from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    Thread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.delivering.destination import PrivateContent
from patchwright.resolver.messages.pull_request import RequestOrigin
from patchwright.workers.run.plan import RunPlan, issue_of
from patchwright.workers.store.threads import LinkedThread


def with_origins(
    plan: RunPlan,
    settings: Settings,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
    *,
    private_texts: tuple[str, ...] = (),
) -> RunPlan:
    """Return the plan with what the readers of the change may know of all that.

    `read` are the threads of the conversation that were read, `private_texts` what was
    read in private repositories besides.
    """
    openness, plan = plan.openness, plan.replace(issue=_issue_in(trigger, linked))
    if openness.keeps_out:
        hidden = _hidden(settings, trigger, read, linked, private_texts)
        return plan.replace(hidden=hidden)
    for_some = openness.is_public and _is_for_some(trigger, read)
    if texts := (*((trigger.text,) if for_some else ()), *private_texts):
        site = f"{settings.github.web_url}/{trigger.home.full_name}"
        plan = plan.replace(hidden=PrivateContent(texts=texts, public_url=site))
    origins = _origins(settings, trigger, read, linked)
    return plan.replace(key=find_ticket_key(trigger, linked), origins=origins)


def _is_for_some(trigger: Trigger, read: Sequence[Thread]) -> bool:
    """Tell whether the comment that asks is one that not all who read a ticket see."""
    if trigger.thread.kind is not ThreadKind.TICKET:
        return False
    posts = (post for thread in read for post in thread.posts)
    return any(post.id == trigger.post_id and post.label for post in posts)


def with_name(trigger: Trigger, thread: Thread) -> Trigger:
    """Return the request with its author called as they are in the thread."""
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
    tickets = (one for one in _talk(trigger, linked) if one.kind is ThreadKind.TICKET)
    return next((one.id for one in tickets), "")


def _origins(
    settings: Settings,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
) -> tuple[RequestOrigin, ...]:
    urls = {str(one.ref): one.url for one in read}
    found = []
    for ref in _talk(trigger, linked):
        is_ticket = ref.kind is ThreadKind.TICKET
        browse = f"{settings.jira.base_url}/browse/{ref.id}" if is_ticket else ""
        if url := urls.get(str(ref)) or browse:
            name = ref.id if is_ticket else f"a thread in {ref.service.capitalize()}"
            found.append(RequestOrigin(name=name, url=url))
    return tuple(found)


def _hidden(
    settings: Settings,
    trigger: Trigger,
    read: Sequence[Thread],
    linked: tuple[LinkedThread, ...],
    private_texts: tuple[str, ...],
) -> PrivateContent:
    """Return what a public repository must not repeat of private threads."""
    private = [one for one in read if isinstance(one.ref, TalkThread)]
    tickets = [
        one.id for one in _talk(trigger, linked) if one.kind is ThreadKind.TICKET
    ]
    hosts = (settings.jira.host.partition("/")[0], "slack.com")
    return PrivateContent(
        texts=(*(text for one in private for text in _texts(one)), *private_texts),
        names=(*(name for one in private for name in _names(one)), *tickets),
        hosts=tuple(filter(None, hosts)),
        public_url=f"{settings.github.web_url}/{trigger.home.full_name}",
    )


def with_private_requests(known: PrivateContent, said: Sequence[Trigger]) -> PrivateContent:
    """Add what was said in private to a run that works already."""
    private = [one for one in said if isinstance(one.thread, TalkThread)]
    texts = (text for one in private for text in (one.title, one.body, one.request))
    return known.replace(
        texts=(*known.texts, *texts),
        names=(*known.names, *(one.actor.login for one in private)),
    )


def _texts(thread: Thread) -> Iterator[str]:
    yield thread.title
    yield from (post.text for post in thread.posts)
    for relative in thread.relatives:
        yield from (relative.title, relative.text)


def _names(thread: Thread) -> Iterator[str]:
    people = (post.author for post in thread.posts)
    yield from (one.login for one in people if not one.is_bot)


def _talk(trigger: Trigger, linked: tuple[LinkedThread, ...]) -> tuple[TalkThread, ...]:
    threads: tuple[ThreadRef, ...] = (trigger.thread, *(one.ref for one in linked))
    by_key = {str(one): one for one in threads if isinstance(one, TalkThread)}
    return tuple(by_key.values())
