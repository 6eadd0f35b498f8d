"""Answer review threads, and settle them."""

from github.Repository import Repository

from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.graphql import GraphQLModel, AuthorNode, mutate, query
from patchwright.integrations.github.payloads import Text

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


def answer_review(api: GitHubClient, ref: ForgeThread, review_thread: str, text: str) -> str:
    given = {"pullRequestReviewThreadId": review_thread, "body": text}
    answered = api.ask(
        ref.repo, lambda repo: mutate(repo, ADD_REPLY, {"input": given}, _AddedReplyData)
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
    api.ask(ref.repo, lambda repo: mutate(repo, RESOLVE_THREAD, {"input": given}, GraphQLModel))


def delete_review_answer(api: GitHubClient, ref: ForgeThread, answer: str) -> None:
    given = {"id": answer}
    api.ask(ref.repo, lambda repo: mutate(repo, DELETE_REPLY, {"input": given}, GraphQLModel))


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
