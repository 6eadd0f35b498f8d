"""Read the review threads of a pull request, which GitHub tells in GraphQL alone.

REST has the comments, but not which of them belong to a thread that is resolved.
https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread
"""

from collections.abc import Iterator
from enum import StrEnum

from github.Repository import Repository

from patchwright.core.types.threads import DiffSide, ForgeThread, Post, ReviewThread
from patchwright.integrations.github.graphql import (
    WRITTEN,
    Part,
    Written,
    owner_and_name,
    query,
)
from patchwright.integrations.github.post_ids import review_comment_post

MAX_PAGES = 10
QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviewThreads(first: 50, after: $after) {{
        pageInfo {{ hasNextPage endCursor }}
        nodes {{
          id
          path
          line
          startLine
          originalLine
          originalStartLine
          diffSide
          isResolved
          isOutdated
          comments(first: 100) {{
            nodes {{ ...written databaseId diffHunk isMinimized }}
          }}
        }}
      }}
    }}
  }}
}}
{WRITTEN}"""


class _Comment(Written):
    database_id: int
    diff_hunk: str = ""
    is_minimized: bool = False


class _Comments(Part):
    nodes: tuple[_Comment, ...]


class _Side(StrEnum):
    LEFT = "LEFT"
    RIGHT = "RIGHT"


class _Thread(Part):
    id: str
    path: str
    line: int | None = None
    start_line: int | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    diff_side: _Side = _Side.RIGHT
    is_resolved: bool
    is_outdated: bool
    comments: _Comments


class _PageInfo(Part):
    has_next_page: bool
    end_cursor: str | None = None


class _Threads(Part):
    page_info: _PageInfo
    nodes: tuple[_Thread, ...]


class _PullRequest(Part):
    review_threads: _Threads


class _Repository(Part):
    pull_request: _PullRequest


class _Data(Part):
    repository: _Repository


def fetch_reviews(repo: Repository, ref: ForgeThread) -> tuple[ReviewThread, ...]:
    """Return the threads in GitHub's order, without what was hidden as spam or abuse.

    Raises the errors of PyGithub.
    """
    threads = (_review(thread) for thread in _fetch_threads(repo, ref))
    return tuple(thread for thread in threads if thread.posts)


def _fetch_threads(repo: Repository, ref: ForgeThread) -> Iterator[_Thread]:
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}
    after: str | None = None
    for _ in range(MAX_PAGES):
        answer = query(repo, QUERY, {**asked, "after": after}, _Data)
        found = answer.repository.pull_request.review_threads
        yield from found.nodes
        after = found.page_info.end_cursor
        if not found.page_info.has_next_page:
            return


def _review(thread: _Thread) -> ReviewThread:
    comments = thread.comments.nodes
    return ReviewThread(
        id=thread.id,
        path=thread.path,
        # An outdated thread has no present line any more.
        line=thread.line or thread.original_line,
        first_line=thread.start_line or thread.original_start_line,
        side=DiffSide.OLD if thread.diff_side is _Side.LEFT else DiffSide.NEW,
        hunk=comments[0].diff_hunk if comments else "",
        is_resolved=thread.is_resolved,
        is_outdated=thread.is_outdated,
        posts=tuple(_post(c) for c in comments if not c.is_minimized),
    )


def _post(comment: _Comment) -> Post:
    return comment.post(review_comment_post(comment.database_id))
