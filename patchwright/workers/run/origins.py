"""Say what a change answers, and what of that nobody else may read."""

from patchwright.core.settings.model import Settings
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    Thread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.delivering.destination import Hidden
from patchwright.resolver.messages.pull_request import Origin
from patchwright.resolver.placing.openness import Openness
from patchwright.workers.run.plan import issue_of
from patchwright.workers.store.threads import Linked


def find_origins(
    settings: Settings,
    openness: Openness,
    trigger: Trigger,
    thread: Thread,
    linked: tuple[Linked, ...],
) -> dict[str, object]:
    """Return that part of a plan, as far as the readers of the change may know it."""
    found: dict[str, object] = {"issue": _issue_in(trigger, linked)}
    if openness.keeps_out:
        return {**found, "hidden": _hidden(settings, trigger, thread, linked)}
    origins = _origins(settings, trigger, thread, linked)
    return {**found, "key": _key_in(trigger, linked), "origins": origins}


def _issue_in(trigger: Trigger, linked: tuple[Linked, ...]) -> int | None:
    """Return the issue of the repository that the conversation is about."""
    here = (
        one.ref
        for one in linked
        if isinstance(one.ref, ForgeThread) and one.ref.repo == trigger.home
    )
    found = (issue_of(one) for one in (trigger.thread, *here))
    return next((one for one in found if one is not None), None)


def _key_in(trigger: Trigger, linked: tuple[Linked, ...]) -> str:
    """Return the key of the ticket that the conversation is about, if there is one."""
    tickets = (one for one in _talk(trigger, linked) if one.kind is ThreadKind.TICKET)
    return next((one.id for one in tickets), "")


def _origins(
    settings: Settings, trigger: Trigger, thread: Thread, linked: tuple[Linked, ...]
) -> tuple[Origin, ...]:
    found = []
    for ref in _talk(trigger, linked):
        if ref.kind is ThreadKind.TICKET:
            url = f"{settings.jira.base_url}/browse/{ref.id}"
            found.append(Origin(name=ref.id, url=url))
        elif str(ref) == str(thread.ref) and thread.url:
            found.append(
                Origin(name=f"a thread in {ref.service.capitalize()}", url=thread.url)
            )
    return tuple(found)


def _hidden(
    settings: Settings, trigger: Trigger, thread: Thread, linked: tuple[Linked, ...]
) -> Hidden:
    """Return what a public repository must not repeat of a private thread."""
    relatives = [(one.title, one.text) for one in thread.relatives]
    posts = thread.posts if isinstance(thread.ref, TalkThread) else ()
    tickets = (one.ref.id for one in linked if isinstance(one.ref, TalkThread))
    own = (thread.ref.id,) if isinstance(thread.ref, TalkThread) else ()
    return Hidden(
        texts=(
            *(one.text for one in posts),
            *(text for pair in relatives for text in pair),
        ),
        names=(
            *(one.author.login for one in posts if not one.author.is_bot),
            *own,
            *tickets,
        ),
        hosts=tuple(filter(None, (settings.jira.host.partition("/")[0], "slack.com"))),
        public_url=f"{settings.github.web_url}/{trigger.home.full_name}",
    )


def _talk(trigger: Trigger, linked: tuple[Linked, ...]) -> tuple[TalkThread, ...]:
    threads: tuple[ThreadRef, ...] = (trigger.thread, *(one.ref for one in linked))
    by_key = {str(one): one for one in threads if isinstance(one, TalkThread)}
    return tuple(by_key.values())
