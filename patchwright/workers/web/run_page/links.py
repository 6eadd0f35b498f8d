"""Where a run was asked for, and every other place that it talks in."""

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from patchwright.core.plugin import ServiceDirectory
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    ForgeThread,
    ThreadKind,
    ThreadRef,
)
from patchwright.resolver.job import Job


class ThreadLink(Value):
    """A thread and its address, which is empty where only its service knows that."""

    name: str
    url: str


def thread_link(thread: ThreadRef, job: Job, directory: ServiceDirectory) -> ThreadLink:
    """Name a thread as people do; one of another repository says which."""
    home = job.trigger.place
    if isinstance(thread, ForgeThread):
        is_elsewhere = not thread.is_own and home is not None and thread.repo != home
        place = thread.repo.full_name if is_elsewhere else ""
        path = directory.forge.forms.thread_path(thread)
        url = f"{directory.forge.web_url}/{thread.repo.full_name}/{path}"
        return ThreadLink(name=f"{place}{thread.name}", url=url if path else "")
    service = directory.chats.get(thread.service)
    title = service.title if service else thread.service.capitalize()
    if thread.kind is ThreadKind.CHAT:
        return ThreadLink(name=f"a thread of {title}", url="")
    address = service.ticket_url if service else ""
    url = address.format(id=quote(thread.id, safe="")) if address else ""
    return ThreadLink(name=thread.name, url=url)


def other_threads(
    linked: Iterable[ThreadRef], job: Job, directory: ServiceDirectory
) -> Iterator[ThreadLink]:
    """Yield the threads besides the one in which the run was asked for."""
    for thread in linked:
        if thread != job.trigger.thread:
            yield thread_link(thread, job, directory)
