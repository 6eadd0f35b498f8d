"""Read what people say on lines of a merge request, answer it, and resolve it."""

import re
from collections.abc import Iterator
from typing import Final

from gitlab.v4.objects import Project

from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import DiffSide, ForgeThread, ReviewThread
from patchwright.integrations.gitlab.answers import (
    ComparisonAnswer,
    DiffAnswer,
    DiffRefs,
    DiscussionAnswer,
    LinePosition,
    MergeRequestAnswer,
    PositionAnswer,
)
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import LARGEST_PAGE, GitLabAddresses
from patchwright.integrations.gitlab.threads import (
    MAX_PAGES,
    PostTexts,
    fetch_roles,
    find_own,
    may_read,
    read_note,
)

_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", re.MULTILINE)

# It replaces so many lines above and below the one that it stands on.
_SUGGESTION: Final = re.compile(
    r"^(?P<fence>(?P<indent> {0,3})(?:`{3,}|~{3,}))suggestion"
    r"(?::-(?P<up>\d{1,4})\+(?P<down>\d{1,4}))?[ \t]*$",
    re.MULTILINE,
)


def fetch_reviews(
    project: Project, ref: ForgeThread, addresses: GitLabAddresses
) -> tuple[ReviewThread, ...]:
    """Return the discussions on lines and files, in GitLab's order.

    A suggestion of a reviewer is part of a text. Where there are too many
    discussions, the oldest are missing.
    """
    found = [
        one
        for one in _fetch_discussions(project, ref)
        if one.notes[0].is_on_diff and may_read(one.notes[0], ref)
    ]
    if not found:
        return ()
    pull = MergeRequestAnswer.model_validate(
        project.mergerequests.get(ref.number).asdict()
    )
    notes = [note for one in found for note in one.notes]
    texts = PostTexts(addresses, ref, fetch_roles(project, notes))
    diffs = _Diffs(project)
    head = pull.diff_refs.head_sha if pull.diff_refs else pull.sha
    return tuple(_review_thread(one, head, texts, diffs) for one in found)


def _fetch_discussions(project: Project, ref: ForgeThread) -> list[DiscussionAnswer]:
    """Return the newest discussions, oldest first: GitLab has no other order."""
    manager = project.mergerequests.get(ref.number, lazy=True).discussions
    first = manager.list(iterator=True, per_page=LARGEST_PAGE)
    pages = first.total_pages or 1
    begin = max(1, pages - MAX_PAGES + 1)
    listed = (
        first
        if begin == 1
        else manager.list(iterator=True, page=begin, per_page=LARGEST_PAGE)
    )
    read = (DiscussionAnswer.model_validate(one.asdict()) for one in listed)
    return [one for one in read if one.notes]


def _review_thread(
    found: DiscussionAnswer, head: str, texts: PostTexts, diffs: "_Diffs"
) -> ReviewThread:
    first = found.notes[0]
    at = first.position or PositionAnswer()
    end = LinePosition(old_line=at.old_line, new_line=at.new_line)
    side = DiffSide.OLD if end.new_line is None and end.old_line else DiffSide.NEW
    line = _number(end, side)
    return ReviewThread(
        id=found.id,
        path=(at.old_path if side is DiffSide.OLD else at.new_path) or at.old_path,
        line=line,
        first_line=_first_line(at, side, line),
        side=side,
        hunk=diffs.fetch_hunk(at, side, line),
        is_resolved=any(n.resolvable for n in found.notes)
        and all(n.resolved for n in found.notes if n.resolvable),
        # GitLab moves a position along with its lines for as long as they are the same.
        is_outdated=at.head_sha != head,
        posts=tuple(
            post.replace(text=show_suggestions(post.text, line))
            for note in found.notes
            if not note.system
            for post in [texts.note_post(note)]
        ),
    )


def show_suggestions(text: str, line: int | None) -> str:
    """Say in words which lines a suggestion is for: the label of a fence is not read.

    https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/
    """

    def shown(found: re.Match[str]) -> str:
        where = _suggested_lines(found, line)
        return f"{found['indent']}Suggested in place of {where}:\n\n{found['fence']}"

    return _SUGGESTION.sub(shown, text)


def _suggested_lines(found: re.Match[str], line: int | None) -> str:
    if line is None:
        return "it"
    first, last = line - int(found["up"] or 0), line + int(found["down"] or 0)
    return f"line {line}" if first == last else f"lines {first} to {last}"


def _first_line(at: PositionAnswer, side: DiffSide, line: int | None) -> int | None:
    """Return the first of several lines, None for one."""
    if at.line_range is None or line is None:
        return None
    first = _number(at.line_range.start, side)
    return first if first is not None and first < line else None


def _number(line: LinePosition, side: DiffSide) -> int | None:
    return line.old_line if side is DiffSide.OLD else line.new_line


class _Diffs:
    """The differences that discussions stand on; each is fetched once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[str, str], tuple[DiffAnswer, ...]] = {}

    def fetch_hunk(self, at: PositionAnswer, side: DiffSide, line: int | None) -> str:
        """Return the code around a line as it was, which ends with that line.

        It is empty for a whole file, and where GitLab has the commits no more.
        """
        if line is None:
            return ""
        return next(
            (
                hunk
                for one in self._fetch(at)
                if (one.old_path, one.new_path) == (at.old_path, at.new_path)
                and (hunk := cut_hunk(one.diff, side, line))
            ),
            "",
        )

    def _fetch(self, refs: DiffRefs) -> tuple[DiffAnswer, ...]:
        versions = (refs.start_sha or refs.base_sha, refs.head_sha)
        if not all(versions):
            return ()
        if versions not in self._known:
            self._known[versions] = self._compare(*versions)
        return self._known[versions]

    def _compare(self, old: str, new: str) -> tuple[DiffAnswer, ...]:
        try:
            found = self._project.repository_compare(old, new)
        except (InvalidRequestError, NotFoundError):
            return ()
        return ComparisonAnswer.model_validate(found).diffs


def cut_hunk(diff: str, side: DiffSide, line: int) -> str:
    """Return the hunk of a file's diff up to that line, empty if no hunk has it."""
    starts = [found.start() for found in _HUNK.finditer(diff)]
    for start, end in zip(starts, [*starts[1:], len(diff)], strict=True):
        lines = diff[start:end].splitlines()
        for place, (old, new) in enumerate(_numbers(lines), start=1):
            if line == (old if side is DiffSide.OLD else new):
                return "\n".join(lines[: place + 1])
    return ""


def _numbers(lines: list[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the numbers of each line of a hunk, in the old and in the new version."""
    header = _HUNK.match(lines[0])
    if header is None:
        return
    old, new = int(header[1]), int(header[2])
    for text in lines[1:]:
        is_old, is_new = not text.startswith("+"), not text.startswith("-")
        if text.startswith("\\"):
            is_old = is_new = False
        yield (old if is_old else None), (new if is_new else None)
        old, new = old + is_old, new + is_new


def answer_review(
    api: GitLabClient, ref: ForgeThread, review_thread: str, text: str
) -> str:
    """Add a note to a discussion; it is as internal as the discussion is."""

    def answer(project: Project) -> str:
        pull = project.mergerequests.get(ref.number, lazy=True)
        discussion = pull.discussions.get(review_thread, lazy=True)
        return str(read_note(discussion.notes.create({"body": text})).id)

    return api.ask(ref.repo, answer)


def find_review_answer(
    api: GitLabClient, ref: ForgeThread, review_thread: str, mark: str
) -> str | None:
    own = api.own_user.id

    def find(project: Project) -> str | None:
        pull = project.mergerequests.get(ref.number, lazy=True)
        found = pull.discussions.get(review_thread).asdict()
        notes = DiscussionAnswer.model_validate(found).notes
        return next(find_own(notes, mark, own), None)

    return api.ask(ref.repo, find)


def resolve_review(api: GitLabClient, ref: ForgeThread, review_thread: str) -> None:
    def resolve(project: Project) -> None:
        pull = project.mergerequests.get(ref.number, lazy=True)
        pull.discussions.update(review_thread, {"resolved": True})

    api.ask(ref.repo, resolve)
