"""Read the reviews of a pull request, answer their threads, and resolve them."""

from datetime import datetime
from enum import StrEnum

from github.Repository import Repository

from patchwright.core.types.threads import (
    DiffSide,
    ForgeThread,
    ReviewThread,
    ThreadPost,
)
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.graphql import (
    POST_FRAGMENT,
    AuthorNode,
    GraphQLModel,
    PageBefore,
    PostNode,
    mutate,
    owner_and_name,
    query,
)
from patchwright.integrations.github.threads import read_pages_backwards
from patchwright.integrations.github.webhooks.payloads import (
    Text,
    review_comment_post,
    review_post,
)

REVIEWS_QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $before: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviews(last: 100, before: $before) {{
        pageInfo {{ hasPreviousPage startCursor }}
        nodes {{ ...written databaseId state submittedAt isMinimized }}
      }}
    }}
  }}
}}
{POST_FRAGMENT}"""


class _ReviewState(StrEnum):
    """How a review stands.

    https://docs.github.com/en/graphql/reference/enums#pullrequestreviewstate
    """

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


_LABELS = {
    _ReviewState.APPROVED: "review, approved",
    _ReviewState.CHANGES_REQUESTED: "review, changes requested",
    _ReviewState.COMMENTED: "review",
    _ReviewState.DISMISSED: "review, dismissed",
}


class _ReviewNode(PostNode):
    database_id: int
    state: _ReviewState
    submitted_at: datetime | None = None
    is_minimized: bool = False

    @property
    def is_shown(self) -> bool:
        return bool(self.body.strip()) and self.state in _LABELS and not self.is_hidden

    @property
    def is_hidden(self) -> bool:
        # What is not submitted yet is seen by its author alone.
        return self.is_minimized or self.submitted_at is None


class _ReviewPage(GraphQLModel):
    page_info: PageBefore
    nodes: tuple[_ReviewNode, ...]


class _PullRequestReviews(GraphQLModel):
    reviews: _ReviewPage


class _ReviewsRepository(GraphQLModel):
    pull_request: _PullRequestReviews


class _ReviewsData(GraphQLModel):
    repository: _ReviewsRepository


def fetch_review_posts(repo: Repository, ref: ForgeThread) -> tuple[ThreadPost, ...]:
    """Return what submitted reviews say, oldest first; many say nothing themselves.

    Raises the errors of PyGithub.
    """
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _ReviewPage:
        found = query(repo, REVIEWS_QUERY, {**asked, "before": before}, _ReviewsData)
        return found.repository.pull_request.reviews

    pages = read_pages_backwards(read, lambda reviews: reviews.page_info)
    return tuple(
        review.post(
            review_post(review.database_id), _LABELS[review.state], review.submitted_at
        )
        for page in pages
        for review in page.nodes
        if review.is_shown
    )


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
        found = query(
            repo, REVIEW_THREADS_QUERY, {**asked, "before": before}, _ReviewThreadsData
        )
        return found.repository.pull_request.review_threads

    pages = read_pages_backwards(read, lambda page: page.page_info)
    threads = (_review_thread(repo, thread) for page in pages for thread in page.nodes)
    return tuple(thread for thread in threads if thread.posts)


def _comments_of(
    repo: Repository, thread: _ReviewThreadNode
) -> tuple[_ReviewComment, ...]:
    """Return a thread's comments; most have come with it."""
    newest = thread.comments

    def read(before: str | None) -> _ReviewComments:
        if before is None:
            return newest
        asked: dict[str, object] = {"id": thread.id, "before": before}
        return query(
            repo, EARLIER_COMMENTS_QUERY, asked, _EarlierCommentsData
        ).node.comments

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


MAX_PAGES = 10
ADD_REPLY = """\
mutation($input: AddPullRequestReviewThreadReplyInput!) {
  addPullRequestReviewThreadReply(input: $input) {
    comment { id }
  }
}
"""
RESOLVE_THREAD = """\
mutation($input: ResolveReviewThreadInput!) {
  resolveReviewThread(input: $input) {
    thread { isResolved }
  }
}
"""
DELETE_REPLY = """\
mutation($input: DeletePullRequestReviewCommentInput!) {
  deletePullRequestReviewComment(input: $input) {
    pullRequestReview { id }
  }
}
"""
REPLIES_QUERY = """\
query($id: ID!, $after: String) {
  node(id: $id) {
    ... on PullRequestReviewThread {
      comments(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id body author { __typename login } }
      }
    }
  }
}
"""


class _ReplyComment(GraphQLModel):
    id: str
    body: Text = ""
    author: AuthorNode | None = None


class _PageAfter(GraphQLModel):
    has_next_page: bool
    end_cursor: str | None = None


class _ReplyComments(GraphQLModel):
    page_info: _PageAfter
    nodes: tuple[_ReplyComment, ...]


class _ThreadReplies(GraphQLModel):
    """A review thread; a node of another kind has no such comments."""

    comments: _ReplyComments


class _ThreadRepliesData(GraphQLModel):
    node: _ThreadReplies


class _AddedReply(GraphQLModel):
    comment: _ReplyComment


class _AddedReplyData(GraphQLModel):
    add_pull_request_review_thread_reply: _AddedReply


def answer_review(
    api: GitHubClient, ref: ForgeThread, review_thread: str, text: str
) -> str:
    given = {"pullRequestReviewThreadId": review_thread, "body": text}
    answered = api.ask(
        ref.repo,
        lambda repo: mutate(repo, ADD_REPLY, {"input": given}, _AddedReplyData),
    )
    return answered.add_pull_request_review_thread_reply.comment.id


def find_review_answer(
    api: GitHubClient, ref: ForgeThread, review_thread: str, mark: str, own_login: str
) -> str | None:
    return api.ask(
        ref.repo, lambda repo: _find_reply(repo, review_thread, mark, own_login)
    )


def resolve_review(api: GitHubClient, ref: ForgeThread, review_thread: str) -> None:
    given = {"threadId": review_thread}
    api.ask(
        ref.repo,
        lambda repo: mutate(repo, RESOLVE_THREAD, {"input": given}, GraphQLModel),
    )


def delete_review_answer(api: GitHubClient, ref: ForgeThread, answer: str) -> None:
    given = {"id": answer}
    api.ask(
        ref.repo,
        lambda repo: mutate(repo, DELETE_REPLY, {"input": given}, GraphQLModel),
    )


def _find_reply(
    repo: Repository, review_thread: str, mark: str, own_login: str
) -> str | None:
    after: str | None = None
    for _ in range(MAX_PAGES):
        asked: dict[str, object] = {"id": review_thread, "after": after}
        comments = query(repo, REPLIES_QUERY, asked, _ThreadRepliesData).node.comments
        for comment in comments.nodes:
            if mark in comment.body and _is_own(comment.author, own_login):
                return comment.id
        after = comments.page_info.end_cursor
        if not comments.page_info.has_next_page:
            return None
    return None


def _is_own(author: AuthorNode | None, own_login: str) -> bool:
    if author is None:
        return False
    # A token of Actions cannot say whose it is, only that it is no person's.
    return author.actor.login == own_login if own_login else author.actor.is_bot
