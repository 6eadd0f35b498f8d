"""Reviews: people comment on lines of a pull request, answer, and settle things."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.fakes.github.exchange import invalid
from tests.fakes.github.render.pulls import pull_files
from tests.fakes.github.review_state import ReviewComment, ReviewThread
from tests.fakes.github.state import Issue, World

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_COUNTED = {"LEFT": " -", "RIGHT": " +"}


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Lines of a diff; `side` is LEFT for the old version and RIGHT for the new one."""

    path: str
    line: int
    start_line: int | None = None
    side: str = "RIGHT"


def comment_on(
    world: World, full_name: str, number: int, *, author: str, spot: Spot, body: str
) -> int:
    """Begin a thread and return its id; the line must be a part of the diff."""
    with world.lock:
        issue = world.issue(full_name, number)
        thread = ReviewThread(
            id=world.next_id(),
            repo=issue.repo,
            number=issue.number,
            path=spot.path,
            line=spot.line,
            start_line=spot.start_line,
            side=spot.side,
            hunk=_cut_hunk(world, issue, spot),
            comments=(_comment(world, author, body),),
        )
        world.reviews[thread.id] = thread
        return thread.id


def answer(world: World, thread_id: int, *, author: str | None, body: str) -> None:
    """Add to a thread; without an author it is from an account that is gone."""
    with world.lock:
        thread = world.reviews[thread_id]
        comments = (*thread.comments, _comment(world, author, body))
        world.reviews[thread_id] = replace(thread, comments=comments)


def resolve(world: World, thread_id: int) -> None:
    with world.lock:
        thread = world.reviews[thread_id]
        world.reviews[thread_id] = replace(thread, is_resolved=True)


def minimize(world: World, thread_id: int, place: int) -> None:
    """Hide one comment of a thread, as maintainers do with spam."""
    with world.lock:
        thread = world.reviews[thread_id]
        comments = list(thread.comments)
        comments[place] = replace(comments[place], is_minimized=True)
        world.reviews[thread_id] = replace(thread, comments=tuple(comments))


def _comment(world: World, author: str | None, body: str) -> ReviewComment:
    login = None if author is None else world.user(author).login
    now = world.clock.now()
    return ReviewComment(id=world.next_id(), author=login, body=body, created_at=now)


def _cut_hunk(world: World, issue: Issue, spot: Spot) -> str:
    patches = {file.path: file.patch or "" for file in pull_files(world, issue)}
    hunk: list[str] = []
    for number, line in _numbered(patches.get(spot.path, ""), spot.side):
        if number is None:
            hunk = []
        hunk.append(line)
        if number == spot.line:
            return "\n".join(hunk)
    problem = "pull_request_review_thread.line must be part of the diff"
    raise invalid("PullRequestReviewComment", "custom", message=problem)


def _numbered(patch: str, side: str) -> Iterator[tuple[int | None, str]]:
    """Yield each line with its number on one side: None heads a hunk, 0 has none."""
    number = 0
    for line in patch.split("\n"):
        head = _HUNK.match(line)
        if head:
            number = int(head[1 if side == "LEFT" else 2]) - 1
            yield None, line
        elif line[:1] in _COUNTED[side]:
            number += 1
            yield number, line
        else:
            yield 0, line
