"""Read the review threads of a pull request, which GitHub tells in GraphQL alone.

REST has the comments, but not which of them belong to a thread that is resolved.
https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread
"""

from enum import StrEnum

from github.Repository import Repository

from patchwright.core.types.threads import DiffSide, ForgeThread, ThreadPost, ReviewThread
from patchwright.integrations.github.graphql import (
    POST_FRAGMENT,
    PageBefore,
    GraphQLModel,
    PostNode,
    owner_and_name,
    query,
)
from patchwright.integrations.github.post_ids import review_comment_post
from patchwright.integrations.github.posts import read_pages_backwards

COMMENTS_FRAGMENT = """
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
REVIEW_THREADS_QUERY = f"""\
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
{COMMENTS_FRAGMENT}{POST_FRAGMENT}"""
# What a thread has before its newest comments.
EARLIER_COMMENTS_QUERY = f"""\
query($id: ID!, $before: String) {{
  node(id: $id) {{
    ... on PullRequestReviewThread {{
      comments(last: 100, before: $before) {{ ...comments }}
    }}
  }}
}}
{COMMENTS_FRAGMENT}{POST_FRAGMENT}"""


class _ReviewId(GraphQLModel):
    database_id: int


class _ReviewComment(PostNode):
    database_id: int
    diff_hunk: str = ""
    is_minimized: bool = False
    pull_request_review: _ReviewId | None = None


class _ReviewComments(GraphQLModel):
    page_info: PageBefore
    nodes: tuple[_ReviewComment, ...]


class _GitHubDiffSide(StrEnum):
    LEFT = "LEFT"
    RIGHT = "RIGHT"


class _ReviewThreadNode(GraphQLModel):
    id: str
    path: str
    line: int | None = None
    start_line: int | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    diff_side: _GitHubDiffSide = _GitHubDiffSide.RIGHT
    is_resolved: bool
    is_outdated: bool
    comments: _ReviewComments


class _ReviewThreadPage(GraphQLModel):
    page_info: PageBefore
    nodes: tuple[_ReviewThreadNode, ...]


class _PullRequestThreads(GraphQLModel):
    review_threads: _ReviewThreadPage


class _ReviewThreadsRepository(GraphQLModel):
    pull_request: _PullRequestThreads


class _ReviewThreadsData(GraphQLModel):
    repository: _ReviewThreadsRepository


class _EarlierComments(GraphQLModel):
    """A review thread; a node of another kind has no such comments."""

    comments: _ReviewComments


class _EarlierCommentsData(GraphQLModel):
    node: _EarlierComments


def fetch_reviews(repo: Repository, ref: ForgeThread) -> tuple[ReviewThread, ...]:
    """Return the threads in GitHub's order, without what was hidden as spam or abuse.

    Where there are too many threads or comments, the oldest are missing. Raises the
    errors of PyGithub.
    """
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _ReviewThreadPage:
        found = query(repo, REVIEW_THREADS_QUERY, {**asked, "before": before}, _ReviewThreadsData)
        return found.repository.pull_request.review_threads

    pages = read_pages_backwards(read, lambda page: page.page_info)
    threads = (_review_thread(repo, thread) for page in pages for thread in page.nodes)
    return tuple(thread for thread in threads if thread.posts)


def _comments_of(repo: Repository, thread: _ReviewThreadNode) -> tuple[_ReviewComment, ...]:
    """Return a thread's comments; most have come with it."""
    newest = thread.comments

    def read(before: str | None) -> _ReviewComments:
        if before is None:
            return newest
        asked: dict[str, object] = {"id": thread.id, "before": before}
        return query(repo, EARLIER_COMMENTS_QUERY, asked, _EarlierCommentsData).node.comments

    pages = read_pages_backwards(read, lambda page: page.page_info)
    return tuple(comment for page in pages for comment in page.nodes)


def _review_thread(repo: Repository, thread: _ReviewThreadNode) -> ReviewThread:
    comments = _comments_of(repo, thread)
    return ReviewThread(
        id=thread.id,
        path=thread.path,
        # An outdated thread has no present line any more.
        line=thread.line or thread.original_line,
        first_line=thread.start_line or thread.original_start_line,
        side=DiffSide.OLD if thread.diff_side is _GitHubDiffSide.LEFT else DiffSide.NEW,
        hunk=comments[0].diff_hunk if comments else "",
        is_resolved=thread.is_resolved,
        is_outdated=thread.is_outdated,
        posts=tuple(_review_comment_post(c) for c in comments if not c.is_minimized),
    )


def _review_comment_post(comment: _ReviewComment) -> ThreadPost:
    review = comment.pull_request_review
    post = comment.post(review_comment_post(comment.database_id))
    submitted = "" if review is None else str(review.database_id)
    return post.replace(review_id=submitted)
