"""Read the review threads of a pull request, which GitHub tells in GraphQL alone.

REST has the comments, but not which of them belong to a thread that is resolved.
https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread
"""

from enum import StrEnum

from github.Repository import Repository

from patchwright.core.types.threads import DiffSide, ForgeThread, Post, ReviewThread
from patchwright.integrations.github.graphql import (
    WRITTEN,
    PageBefore,
    Part,
    Written,
    owner_and_name,
    query,
)
from patchwright.integrations.github.post_ids import review_comment_post
from patchwright.integrations.github.posts import read_back

COMMENTS = """
fragment comments on PullRequestReviewCommentConnection {
  pageInfo { hasPreviousPage startCursor }
  nodes {
    ...written
    databaseId
    diffHunk
    isMinimized
    pullRequestReview { databaseId }
  }
}
"""
QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $before: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviewThreads(last: 50, before: $before) {{
        pageInfo {{ hasPreviousPage startCursor }}
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
          comments(last: 100) {{ ...comments }}
        }}
      }}
    }}
  }}
}}
{COMMENTS}{WRITTEN}"""
# What a thread has before its newest comments.
EARLIER_QUERY = f"""\
query($id: ID!, $before: String) {{
  node(id: $id) {{
    ... on PullRequestReviewThread {{
      comments(last: 100, before: $before) {{ ...comments }}
    }}
  }}
}}
{COMMENTS}{WRITTEN}"""


class _Submitted(Part):
    database_id: int


class _Comment(Written):
    database_id: int
    diff_hunk: str = ""
    is_minimized: bool = False
    pull_request_review: _Submitted | None = None


class _Comments(Part):
    page_info: PageBefore
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


class _Threads(Part):
    page_info: PageBefore
    nodes: tuple[_Thread, ...]


class _PullRequest(Part):
    review_threads: _Threads


class _Repository(Part):
    pull_request: _PullRequest


class _Data(Part):
    repository: _Repository


class _Node(Part):
    """A review thread; a node of another kind has no such comments."""

    comments: _Comments


class _Found(Part):
    node: _Node


def fetch_reviews(repo: Repository, ref: ForgeThread) -> tuple[ReviewThread, ...]:
    """Return the threads in GitHub's order, without what was hidden as spam or abuse.

    Where there are too many threads or comments, the oldest are missing. Raises the
    errors of PyGithub.
    """
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _Threads:
        found = query(repo, QUERY, {**asked, "before": before}, _Data)
        return found.repository.pull_request.review_threads

    pages = read_back(read, lambda page: page.page_info)
    threads = (_review(repo, thread) for page in pages for thread in page.nodes)
    return tuple(thread for thread in threads if thread.posts)


def _comments_of(repo: Repository, thread: _Thread) -> tuple[_Comment, ...]:
    """Return a thread's comments; most have come with it."""
    newest = thread.comments

    def read(before: str | None) -> _Comments:
        if before is None:
            return newest
        asked: dict[str, object] = {"id": thread.id, "before": before}
        return query(repo, EARLIER_QUERY, asked, _Found).node.comments

    pages = read_back(read, lambda page: page.page_info)
    return tuple(comment for page in pages for comment in page.nodes)


def _review(repo: Repository, thread: _Thread) -> ReviewThread:
    comments = _comments_of(repo, thread)
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
    review = comment.pull_request_review
    post = comment.post(review_comment_post(comment.database_id))
    submitted = "" if review is None else str(review.database_id)
    return post.replace(review_id=submitted)
