"""Reviews: people comment on lines of a pull request, answer, and settle things."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.fakes.github.exchange import invalid
from tests.fakes.github.render.pulls import head_sha, pull_files
from tests.fakes.github.review_state import Review, ReviewComment, ReviewThread
from tests.fakes.github.state import Issue, World
from tests.fakes.github.webhooks.reviews import tell_comment, tell_review

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_COUNTED = {"LEFT": " -", "RIGHT": " +"}


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Lines of a diff; `side` is LEFT for the old version and RIGHT for the new one."""

    path: str
    line: int
    start_line: int | None = None
    side: str = "RIGHT"


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A comment of a review that is still being written."""

    spot: Spot
    body: str


def submit_review(
    world: World,
    full_name: str,
    number: int,
    *,
    author: str,
    state: str = "COMMENTED",
    body: str = "",
    remarks: Sequence[Remark] = (),
) -> int:
    """Submit everything at once and return the review's id.

    `state` is COMMENTED, APPROVED or CHANGES_REQUESTED. Each line that is remarked on
    must be a part of the diff. GitHub tells of the review first, then of each comment.
    """
    with world.lock:
        issue = world.issue(full_name, number)
        hunks = [_cut_hunk(world, issue, remark.spot) for remark in remarks]
        review = _review(world, issue, author, state=state, body=body)
        threads = [
            _begin(world, review, remark, hunk)
            for remark, hunk in zip(remarks, hunks, strict=True)
        ]
        tell_review(world, review, action="submitted", actor=author)
        for thread in threads:
            comment = thread.comments[0]
            tell_comment(world, thread, comment, action="created", actor=author)
        return review.id


def comment_on(
    world: World, full_name: str, number: int, *, author: str, spot: Spot, body: str
) -> int:
    """Begin a thread by a single comment and return the thread's id."""
    remark = Remark(spot=spot, body=body)
    review = submit_review(world, full_name, number, author=author, remarks=[remark])
    return thread_ids(world, review)[0]


def thread_ids(world: World, review_id: int) -> list[int]:
    """Return the threads that a review began, in its order."""
    return [
        thread.id
        for thread in world.reviews.values()
        if thread.comments[0].review_id == review_id
    ]


def answer(world: World, thread_id: int, *, author: str | None, body: str) -> int:
    """Add to a thread and return the comment's id.

    Without an author it is from an account that is gone. An answer is a review, too.
    """
    with world.lock:
        thread = world.reviews[thread_id]
        issue = world.issue(thread.repo, thread.number)
        review = _review(world, issue, author, state="COMMENTED", body="")
        comment = _comment(world, review, body)
        thread = replace(thread, comments=(*thread.comments, comment))
        world.reviews[thread_id] = thread
        if author is not None:
            tell_review(world, review, action="submitted", actor=author)
            tell_comment(world, thread, comment, action="created", actor=author)
        return comment.id


def edit_review(world: World, review_id: int, *, actor: str, body: str) -> None:
    with world.lock:
        old = world.submitted[review_id]
        edited = replace(old, body=body, edited_at=world.clock.now())
        world.submitted[review_id] = edited
        tell_review(world, edited, action="edited", actor=actor, before=old.body)


def edit_comment(
    world: World, thread_id: int, place: int, *, actor: str, body: str
) -> None:
    """Change one comment of a thread."""
    with world.lock:
        old = world.reviews[thread_id].comments[place]
        edited = replace(old, body=body, updated_at=world.clock.now())
        thread = _put_comment(world, thread_id, place, edited)
        tell_comment(
            world, thread, edited, action="edited", actor=actor, before=old.body
        )


def resolve(world: World, thread_id: int) -> None:
    with world.lock:
        thread = world.reviews[thread_id]
        world.reviews[thread_id] = replace(thread, is_resolved=True)


def minimize(world: World, thread_id: int, place: int) -> None:
    """Hide one comment of a thread, as maintainers do with spam."""
    with world.lock:
        comment = world.reviews[thread_id].comments[place]
        _put_comment(world, thread_id, place, replace(comment, is_minimized=True))


def _put_comment(
    world: World, thread_id: int, place: int, comment: ReviewComment
) -> ReviewThread:
    thread = world.reviews[thread_id]
    comments = list(thread.comments)
    comments[place] = comment
    changed = replace(thread, comments=tuple(comments))
    world.reviews[thread_id] = changed
    return changed


def _review(
    world: World, issue: Issue, author: str | None, *, state: str, body: str
) -> Review:
    review = Review(
        id=world.next_id(),
        repo=issue.repo,
        number=issue.number,
        author=None if author is None else world.user(author).login,
        body=body,
        state=state,
        commit=head_sha(world, issue),
        submitted_at=world.clock.now(),
    )
    world.submitted[review.id] = review
    return review


def _begin(world: World, review: Review, remark: Remark, hunk: str) -> ReviewThread:
    spot = remark.spot
    thread = ReviewThread(
        id=world.next_id(),
        repo=review.repo,
        number=review.number,
        path=spot.path,
        line=spot.line,
        start_line=spot.start_line,
        side=spot.side,
        hunk=hunk,
        comments=(_comment(world, review, remark.body),),
    )
    world.reviews[thread.id] = thread
    return thread


def take_back(world: World, thread_id: int, comment_id: int) -> None:
    """Delete a post of a review thread."""
    with world.lock:
        thread = world.reviews[thread_id]
        left = tuple(one for one in thread.comments if one.id != comment_id)
        world.reviews[thread_id] = replace(thread, comments=left)


def _comment(world: World, review: Review, body: str) -> ReviewComment:
    now = world.clock.now()
    return ReviewComment(
        id=world.next_id(),
        review_id=review.id,
        author=review.author,
        body=body,
        created_at=now,
        updated_at=now,
    )


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
