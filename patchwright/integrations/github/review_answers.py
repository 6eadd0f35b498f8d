"""Answer review threads, and settle them."""

from github.Repository import Repository

from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.github.api import Api
from patchwright.integrations.github.graphql import Part, Writer, mutate, query
from patchwright.integrations.github.payloads import Text

MAX_PAGES = 10
ANSWER = """\
mutation($input: AddPullRequestReviewThreadReplyInput!) {
  addPullRequestReviewThreadReply(input: $input) {
    comment { id }
  }
}
"""
RESOLVE = """\
mutation($input: ResolveReviewThreadInput!) {
  resolveReviewThread(input: $input) {
    thread { isResolved }
  }
}
"""
DELETE = """\
mutation($input: DeletePullRequestReviewCommentInput!) {
  deletePullRequestReviewComment(input: $input) {
    pullRequestReview { id }
  }
}
"""
QUERY = """\
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


class _Comment(Part):
    id: str
    body: Text = ""
    author: Writer | None = None


class _PageInfo(Part):
    has_next_page: bool
    end_cursor: str | None = None


class _Comments(Part):
    page_info: _PageInfo
    nodes: tuple[_Comment, ...]


class _Node(Part):
    """A review thread; a node of another kind has no such comments."""

    comments: _Comments


class _Found(Part):
    node: _Node


class _Reply(Part):
    comment: _Comment


class _Answered(Part):
    add_pull_request_review_thread_reply: _Reply


def answer_review(api: Api, ref: ForgeThread, review_thread: str, text: str) -> str:
    given = {"pullRequestReviewThreadId": review_thread, "body": text}
    answered = api.ask(
        ref.repo, lambda repo: mutate(repo, ANSWER, {"input": given}, _Answered)
    )
    return answered.add_pull_request_review_thread_reply.comment.id


def find_review_answer(
    api: Api, ref: ForgeThread, review_thread: str, mark: str, own_login: str
) -> str | None:
    return api.ask(
        ref.repo, lambda repo: _find_answer(repo, review_thread, mark, own_login)
    )


def resolve_review(api: Api, ref: ForgeThread, review_thread: str) -> None:
    given = {"threadId": review_thread}
    api.ask(ref.repo, lambda repo: mutate(repo, RESOLVE, {"input": given}, Part))


def delete_review_answer(api: Api, ref: ForgeThread, answer: str) -> None:
    given = {"id": answer}
    api.ask(ref.repo, lambda repo: mutate(repo, DELETE, {"input": given}, Part))


def _find_answer(
    repo: Repository, review_thread: str, mark: str, own_login: str
) -> str | None:
    after: str | None = None
    for _ in range(MAX_PAGES):
        asked: dict[str, object] = {"id": review_thread, "after": after}
        comments = query(repo, QUERY, asked, _Found).node.comments
        for comment in comments.nodes:
            if mark in comment.body and _is_own(comment.author, own_login):
                return comment.id
        after = comments.page_info.end_cursor
        if not comments.page_info.has_next_page:
            return None
    return None


def _is_own(author: Writer | None, own_login: str) -> bool:
    if author is None:
        return False
    # A token of Actions cannot say whose it is, only that it is no person's.
    return author.actor.login == own_login if own_login else author.actor.is_bot
