"""GitLab as a channel: issues, merge requests, reactions and labels."""

from contextlib import suppress
from typing import Final
from urllib.parse import quote

from gitlab.v4.objects import Project

from patchwright.core.channel import Offers, ServiceChannel
from patchwright.core.types.errors import (
    AlreadyExistsError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import ForgeThread, Thread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.gitlab.attachments import fetch_attachment
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.reviews import (
    answer_review,
    fetch_reviews,
    find_review_answer,
    resolve_review,
)
from patchwright.integrations.gitlab.threads import (
    GitLabPosts,
    add_note,
    delete_note,
    edit_note,
    fetch_opening,
    fetch_posts,
    fetch_thread_answer,
    find_own_note,
    open_thread,
)
from patchwright.integrations.gitlab.words import as_note

SEEN: Final = "eyes"
DECLINED: Final = "thumbsdown"
# Whoever has not called us is not to be voted down.
NOT_TAKEN: Final = "confused"
# What GitLab answers, with 404, to the same reaction again.
_AWARDED: Final = "already been taken"
# By the last word of a label's name; people may change the colour later.
_COLOURS: Final = {
    "running": "#fbca04",
    "waiting": "#1d76db",
    "done": "#0e8a16",
    "failed": "#d93f0b",
}
_COLOUR: Final = "#ededed"


def swap_labels(
    project: Project, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    """Put labels on a thread and take others off, in one change."""
    present = set(fetch_thread_answer(project, ref).labels)
    missing = [name for name in add if name not in present]
    gone = [name for name in remove if name in present]
    for name in missing:
        _ensure_label(project, name)
    changes = {
        "add_labels": ",".join(missing),
        "remove_labels": ",".join(gone),
    }
    wanted = {key: names for key, names in changes.items() if names}
    if wanted and ref.kind.is_pull:
        project.mergerequests.update(ref.number, wanted)
    elif wanted:
        project.issues.update(ref.number, wanted)


def _ensure_label(project: Project, name: str) -> None:
    """Make a label in its colour: GitLab makes a missing one too, but in any colour."""
    try:
        project.manager.gitlab.http_get(
            f"/projects/{project.encoded_id}/labels/{quote(name, safe='')}"
        )
    except NotFoundError:
        colour = _COLOURS.get(name.rpartition(":")[2], _COLOUR)
        # Somebody was faster, or we may use labels and not make any.
        with suppress(AlreadyExistsError, PermissionDeniedError, NotFoundError):
            project.labels.create({"name": name, "color": colour})


def react(project: Project, thread: ForgeThread, post_id: str, reaction: str) -> None:
    """React to what asked: the note, or the thread's opening text.

    https://docs.gitlab.com/api/emoji_reactions/
    """
    place = open_thread(project, thread)
    awardable = (
        place.notes.get(int(post_id), lazy=True) if post_id.isdecimal() else place
    )
    try:
        awardable.awardemojis.create({"name": reaction})
    except NotFoundError as error:
        if _AWARDED not in str(error):
            raise


class GitLabChannel(ServiceChannel[ForgeThread]):
    """A channel of the threads beside the code.

    What a message offers, its words say as well: GitLab has no buttons. The posts of a
    thread are its opening text and its notes, but not what GitLab itself notes.
    """

    def __init__(self, api: GitLabClient) -> None:
        self._api = api

    def acknowledge(self, trigger: Trigger) -> None:
        self._react(trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        is_reply = trigger.kind is TriggerKind.REPLY
        self._react(trigger, NOT_TAKEN if is_reply else DECLINED)

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        return self._api.ask(ref.repo, lambda project: self._read(ref, project))

    def fetch_opening(self, ref: ForgeThread) -> Thread:
        """Read an issue or a merge request: here the kind says which of two."""
        addresses = self._api.addresses
        found = self._api.ask(
            ref.repo, lambda project: fetch_opening(project, ref, addresses)
        )
        return self._thread(ref, found)

    def find_post(self, ref: ForgeThread, mark: str) -> str | None:
        own = self._api.own_user.id
        return self._api.ask(
            ref.repo, lambda project: find_own_note(project, ref, mark, own)
        )

    def post(self, ref: ForgeThread, text: str, offers: Offers = ()) -> str:  # noqa: ARG002 - see the class
        note = as_note(text)
        return self._api.ask(ref.repo, lambda project: add_note(project, ref, note))

    def edit(
        self,
        ref: ForgeThread,
        post_id: str,
        text: str,
        offers: Offers = (),  # noqa: ARG002 - see the class
    ) -> None:
        note = as_note(text)
        self._api.ask(ref.repo, lambda project: edit_note(project, ref, post_id, note))

    def delete(self, ref: ForgeThread, post_id: str) -> None:
        with suppress(NotFoundError):
            self._api.ask(ref.repo, lambda project: delete_note(project, ref, post_id))

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        return answer_review(self._api, ref, review_thread, as_note(text))

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        return find_review_answer(self._api, ref, review_thread, mark)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        resolve_review(self._api, ref, review_thread)

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        # A note of a discussion is a note of the merge request as well.
        self._api.ask(ref.repo, lambda project: delete_note(project, ref, answer))

    def swap_labels(
        self, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        self._api.ask(ref.repo, lambda project: swap_labels(project, ref, add, remove))

    def fetch_attachment(
        self,
        ref: ForgeThread,
        url: str,
        max_bytes: int,
        post_id: str = "",  # noqa: ARG002 - an upload belongs to the project
    ) -> bytes:
        return fetch_attachment(self._api, ref, url, max_bytes)

    def _react(self, trigger: Trigger, reaction: str) -> None:
        thread, post_id = trigger.forge_thread, trigger.post_id
        self._api.ask(
            thread.repo, lambda project: react(project, thread, post_id, reaction)
        )

    def _read(self, ref: ForgeThread, project: Project) -> Thread:
        addresses = self._api.addresses
        thread = self._thread(ref, fetch_posts(project, ref, addresses))
        if not ref.kind.is_pull:
            return thread
        return thread.replace(reviews=fetch_reviews(project, ref, addresses))

    def _thread(self, ref: ForgeThread, found: GitLabPosts) -> Thread:
        return Thread(
            ref=ref,
            title=found.title,
            url=self._api.addresses.thread_url(ref),
            posts=found.posts,
            unread=found.unread,
            has_moved=found.has_moved,
        )
