"""Read the texts of issues and merge requests, and write notes there."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Final

from gitlab.base import RESTObject, RESTObjectList
from gitlab.v4.objects import Project, ProjectIssue, ProjectMergeRequest

from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadPost
from patchwright.integrations.gitlab.answers import (
    GHOST,
    IssueAnswer,
    MemberAnswer,
    NoteAnswer,
    UserAnswer,
)
from patchwright.integrations.gitlab.connection import LARGEST_PAGE, GitLabAddresses
from patchwright.integrations.gitlab.settings import SERVICE
from patchwright.integrations.gitlab.webhooks.payloads import review_of
from patchwright.integrations.gitlab.webhooks.triggers import is_bot_name

# The opening text has no id of its own among the notes.
OPENING: Final = "body"
MAX_PAGES: Final = 10
INTERNAL: Final = "internal note"
# How GitLab notes that an opening text was edited; that note cannot be taken back.
_DESCRIPTION_CHANGED: Final = "changed the description"
_MOVED_FROM: Final = "moved from "
# https://docs.gitlab.com/api/access_requests/#valid-access-levels
_ROLES: Final = {
    5: "minimal access",
    10: "guest",
    15: "planner",
    20: "reporter",
    30: "developer",
    40: "maintainer",
    50: "owner",
}
# An address of an upload as it stands in texts: relative to the project.
_RELATIVE_UPLOAD: Final = re.compile(r"(?<=[(\"'\s<])(?=/uploads/[0-9a-f]{32}/)")

GitLabThread = ProjectIssue | ProjectMergeRequest


class GitLabPosts(Value):
    """A thread's own texts, oldest first; `unread` older notes are missing."""

    title: str
    posts: tuple[ThreadPost, ...]
    unread: int = 0
    has_moved: bool = False


def actor_of(user: UserAnswer | None) -> Actor:
    found = user or UserAnswer()
    return Actor(
        service=SERVICE,
        login=found.username,
        external_id=str(found.id) if found.id and found.username != GHOST else "",
        is_bot=found.bot or is_bot_name(found.username),
    )


def open_thread(project: Project, ref: ForgeThread) -> GitLabThread:
    """Return a thread of which nothing is fetched yet."""
    if ref.kind.is_pull:
        return project.mergerequests.get(ref.number, lazy=True)
    return project.issues.get(ref.number, lazy=True)


def fetch_thread_answer(project: Project, ref: ForgeThread) -> IssueAnswer:
    if ref.kind.is_pull:
        found = project.mergerequests.get(ref.number).asdict()
    else:
        found = project.issues.get(ref.number).asdict()
    return IssueAnswer.model_validate(found)


def fetch_posts(
    project: Project, ref: ForgeThread, addresses: GitLabAddresses
) -> GitLabPosts:
    """Return title, opening text and notes.

    What GitLab itself notes is left out, and so is what stands on lines of a diff: that
    is for `reviews` to read. Internal notes are read where we answer in such.
    """
    opening = fetch_thread_answer(project, ref)
    listed = open_thread(project, ref).notes.list(
        iterator=True, order_by="created_at", sort="desc", per_page=LARGEST_PAGE
    )
    notes = list(map(read_note, islice(listed, MAX_PAGES * LARGEST_PAGE)))
    shown = [
        one
        for one in reversed(notes)
        if not (one.system or one.is_on_diff) and may_read(one, ref)
    ]
    texts = PostTexts(addresses, ref, fetch_roles(project, (opening, *shown)))
    edited_at = _find_description_change(notes)
    return GitLabPosts(
        title=opening.title,
        posts=(
            texts.opening_post(opening, edited_at),
            *map(texts.note_post, shown),
        ),
        unread=_count_unread(listed, len(notes)),
        has_moved=_has_moved(notes),
    )


def fetch_opening(
    project: Project, ref: ForgeThread, addresses: GitLabAddresses
) -> GitLabPosts:
    """Return title and opening text alone."""
    opening = fetch_thread_answer(project, ref)
    listed = open_thread(project, ref).notes.list(
        page=1, order_by="created_at", sort="desc", per_page=LARGEST_PAGE
    )
    notes = list(map(read_note, listed))
    texts = PostTexts(addresses, ref, fetch_roles(project, (opening,)))
    return GitLabPosts(
        title=opening.title,
        posts=(texts.opening_post(opening, _find_description_change(notes)),),
        has_moved=_has_moved(notes),
    )


def may_read(note: NoteAnswer, ref: ForgeThread) -> bool:
    """Tell whether a run that answers in `ref` may repeat what a note says."""
    return bool(ref.audience) or not note.is_internal


def read_note(note: RESTObject) -> NoteAnswer:
    return NoteAnswer.model_validate(note.asdict())


def _count_unread(listed: Iterable[RESTObject], read: int) -> int:
    """Return how many notes were not read, as far as GitLab counts them."""
    total = listed.total if isinstance(listed, RESTObjectList) else None
    return max(0, (total or read) - read)


def _has_moved(notes: Iterable[NoteAnswer]) -> bool:
    return any(one.system and one.body.startswith(_MOVED_FROM) for one in notes)


def _find_description_change(notes: Iterable[NoteAnswer]) -> datetime | None:
    changes = (
        one.created_at
        for one in notes
        if one.system and one.body.startswith(_DESCRIPTION_CHANGED)
    )
    return max(changes, default=None)


def fetch_roles(
    project: Project, texts: Iterable[IssueAnswer | NoteAnswer]
) -> Mapping[int, str]:
    """Return what the authors are in the project; who is no member is left out."""
    ids = sorted({one.author.id for one in texts if one.author and one.author.id})
    try:
        found = [
            MemberAnswer.model_validate(one.asdict())
            for start in range(0, len(ids), LARGEST_PAGE)
            for one in project.members_all.list(
                query_parameters={
                    "user_ids[]": ids[start : start + LARGEST_PAGE],
                    "per_page": LARGEST_PAGE,
                }
            )
        ]
    except (NotFoundError, PermissionDeniedError):
        return {}
    return {one.id: _ROLES.get(one.access_level, "") for one in found}


class PostTexts:
    """Makes posts of answers. `roles` are those of the authors, by their numbers."""

    def __init__(
        self, addresses: GitLabAddresses, ref: ForgeThread, roles: Mapping[int, str]
    ) -> None:
        self._root = addresses.repository_url(ref.repo.full_name)
        self._roles = roles

    def opening_post(
        self, opening: IssueAnswer, edited_at: datetime | None
    ) -> ThreadPost:
        return ThreadPost(
            id=OPENING,
            author=actor_of(opening.author),
            text=self._absolute(opening.description),
            at=opening.created_at,
            edited_at=edited_at,
            role=self._role(opening.author),
        )

    def note_post(self, note: NoteAnswer) -> ThreadPost:
        """Return the post of a note.

        GitLab does not tell when a text was edited, only when anything about the note
        has changed, such as a reaction to it.
        """
        author = note.author
        changed = note.updated_at is not None and note.updated_at > note.created_at
        return ThreadPost(
            id=str(note.id),
            author=actor_of(author),
            text=self._absolute(note.body),
            at=note.created_at,
            edited_at=note.updated_at if changed else None,
            label=INTERNAL if note.is_internal else "",
            role=self._role(author),
            review_id=review_of(author.id if author else 0, note.created_at)
            if note.is_on_diff
            else "",
        )

    def _role(self, author: UserAnswer | None) -> str:
        return self._roles.get(author.id, "") if author else ""

    def _absolute(self, text: str) -> str:
        return _RELATIVE_UPLOAD.sub(self._root, text)


def find_own_note(
    project: Project, ref: ForgeThread, mark: str, own_id: int
) -> str | None:
    """Return the id of our first note in a thread that contains `mark`."""
    listed = open_thread(project, ref).notes.list(
        iterator=True, order_by="created_at", sort="asc", per_page=LARGEST_PAGE
    )
    return next(find_own(map(read_note, listed), mark, own_id), None)


def find_own(notes: Iterable[NoteAnswer], mark: str, own_id: int) -> Iterator[str]:
    for note in notes:
        is_own = note.author is not None and note.author.id == own_id
        if is_own and not note.system and mark in note.body:
            yield str(note.id)


def add_note(project: Project, ref: ForgeThread, text: str) -> str:
    """Add a note; for an audience, or in a confidential issue, an internal one.

    That stays with its readers when people make the issue public later on.
    https://docs.gitlab.com/user/discussions/#add-an-internal-note
    """
    is_hidden = bool(ref.audience) or _is_confidential(project, ref)
    wanted = {"body": text, **({"internal": True} if is_hidden else {})}
    return str(read_note(open_thread(project, ref).notes.create(wanted)).id)


def _is_confidential(project: Project, ref: ForgeThread) -> bool:
    return not ref.kind.is_pull and fetch_thread_answer(project, ref).confidential


def edit_note(project: Project, ref: ForgeThread, note_id: str, text: str) -> None:
    open_thread(project, ref).notes.update(int(note_id), {"body": text})


def delete_note(project: Project, ref: ForgeThread, note_id: str) -> None:
    open_thread(project, ref).notes.delete(int(note_id))
