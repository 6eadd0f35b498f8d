"""Read the texts of issues, pull requests and discussions, and write in the latter."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar

from github.Repository import Repository
from pydantic import Field

from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadKind, ThreadPost
from patchwright.integrations.github.graphql import (
    POST_FRAGMENT,
    GraphQLModel,
    PageBefore,
    PostNode,
    mutate,
    owner_and_name,
    query,
)

# The opening text has no id of its own among the comments.
OPENING = "body"
MAX_PAGES = 10

_COMMENT_FIELDS = """\
    title
    ...written
    comments(last: 100, before: $before) {
      totalCount
      pageInfo { hasPreviousPage startCursor }
      nodes { ...written databaseId isMinimized }
    }
"""
THREAD_QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $before: String) {{
  repository(owner: $owner, name: $name) {{
    issueOrPullRequest(number: $number) {{
      __typename
      ... on Issue {{
{_COMMENT_FIELDS}      }}
      ... on PullRequest {{
{_COMMENT_FIELDS}      }}
    }}
  }}
}}
{POST_FRAGMENT}"""
OPENING_QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    issueOrPullRequest(number: $number) {{
      __typename
      ... on Issue {{ title ...written }}
      ... on PullRequest {{ title ...written }}
    }}
  }}
}}
{POST_FRAGMENT}"""


class ThreadPosts(Value):
    """A thread's own texts, oldest first; `unread` older comments are missing."""

    title: str
    posts: tuple[ThreadPost, ...]
    unread: int = 0


class _ThreadComment(PostNode):
    database_id: int
    is_minimized: bool = False


class _ThreadComments(GraphQLModel):
    total_count: int
    page_info: PageBefore
    nodes: tuple[_ThreadComment, ...]


class _OpeningNode(PostNode):
    kind: str = Field("Issue", alias="__typename")
    title: str


class _ThreadNode(_OpeningNode):
    comments: _ThreadComments


class _ThreadRepository(GraphQLModel):
    issue_or_pull_request: _ThreadNode


class _ThreadData(GraphQLModel):
    repository: _ThreadRepository


class _OpeningRepository(GraphQLModel):
    issue_or_pull_request: _OpeningNode


class _OpeningData(GraphQLModel):
    repository: _OpeningRepository


Found = TypeVar("Found")


def fetch_posts(repo: Repository, ref: ForgeThread) -> ThreadPosts:
    """Return title, opening text and comments, those hidden as spam or abuse left out.

    Raises the errors of PyGithub.
    """
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _ThreadNode:
        variables = {**asked, "before": before}
        return query(
            repo, THREAD_QUERY, variables, _ThreadData
        ).repository.issue_or_pull_request

    pages = read_pages_backwards(read, lambda thread: thread.comments.page_info)
    newest = pages[-1]
    comments = [comment for page in pages for comment in page.comments.nodes]
    shown = (c.post(str(c.database_id)) for c in comments if not c.is_minimized)
    return ThreadPosts(
        title=newest.title,
        posts=(newest.post(OPENING), *shown),
        unread=max(0, newest.comments.total_count - len(comments)),
    )


def fetch_opening(
    repo: Repository, ref: ForgeThread
) -> tuple[str, ThreadPost, ThreadKind]:
    """Return title, opening text and kind of an issue or pull request."""
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}
    answer = query(repo, OPENING_QUERY, asked, _OpeningData)
    found = answer.repository.issue_or_pull_request
    is_pull = found.kind == "PullRequest"
    kind = ThreadKind.PULL_REQUEST if is_pull else ThreadKind.ISSUE
    return found.title, found.post(OPENING), kind


def read_pages_backwards(
    read: Callable[[str | None], Found], page_info: Callable[[Found], PageBefore]
) -> list[Found]:
    """Read pages from the newest to the oldest, and return them the other way round.

    A thread is cut off where it goes on for ever: the newest pages are there.
    """
    pages: list[Found] = []
    before: str | None = None
    for _ in range(MAX_PAGES):
        page = read(before)
        pages.append(page)
        info = page_info(page)
        before = info.start_cursor
        if not info.has_previous_page:
            break
    return pages[::-1]


# Of what belongs to a page, GitHub gives at most a hundred replies each.
DISCUSSION_QUERY = f"""\
query($owner: String!, $name: String!, $number: Int!, $before: String) {{
  repository(owner: $owner, name: $name) {{
    discussion(number: $number) {{
      title
      ...written
      comments(last: 100, before: $before) {{
        totalCount
        pageInfo {{ hasPreviousPage startCursor }}
        nodes {{
          ...written
          isMinimized
          deletedAt
          viewerDidAuthor
          replies(last: 100) {{
            nodes {{ ...written isMinimized deletedAt viewerDidAuthor }}
          }}
        }}
      }}
    }}
  }}
}}
{POST_FRAGMENT}"""
DISCUSSION_ID_QUERY = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { discussion(number: $number) { id } }
}
"""
ADD_COMMENT = """\
mutation($input: AddDiscussionCommentInput!) {
  addDiscussionComment(input: $input) { comment { id } }
}
"""
EDIT_COMMENT = """\
mutation($input: UpdateDiscussionCommentInput!) {
  updateDiscussionComment(input: $input) { comment { id } }
}
"""
DELETE_COMMENT = """\
mutation($input: DeleteDiscussionCommentInput!) {
  deleteDiscussionComment(input: $input) { comment { id } }
}
"""
ADD_REACTION = """\
mutation($input: AddReactionInput!) {
  addReaction(input: $input) { reaction { content } }
}
"""
POST_HTML_QUERY = """\
query postHtml($id: ID!) {
  node(id: $id) { ... on Comment { bodyHTML } }
}
"""
# GraphQL has names of its own for these.
# https://docs.github.com/en/graphql/reference/enums#reactioncontent
_REACTIONS = {"eyes": "EYES", "-1": "THUMBS_DOWN"}


class _DiscussionReply(PostNode):
    is_minimized: bool = False
    deleted_at: datetime | None = None
    viewer_did_author: bool = False

    @property
    def is_shown(self) -> bool:
        return not self.is_minimized and self.deleted_at is None


class _DiscussionReplies(GraphQLModel):
    nodes: tuple[_DiscussionReply, ...]


class _DiscussionComment(_DiscussionReply):
    replies: _DiscussionReplies


class _DiscussionComments(GraphQLModel):
    total_count: int
    page_info: PageBefore
    nodes: tuple[_DiscussionComment, ...]


class _Discussion(PostNode):
    title: str
    comments: _DiscussionComments


class _DiscussionRepository(GraphQLModel):
    discussion: _Discussion


class _DiscussionData(GraphQLModel):
    repository: _DiscussionRepository


class _NodeId(GraphQLModel):
    id: str


class _DiscussionIdRepository(GraphQLModel):
    discussion: _NodeId


class _DiscussionIdData(GraphQLModel):
    repository: _DiscussionIdRepository


class _AddedComment(GraphQLModel):
    comment: _NodeId


class _AddedCommentData(GraphQLModel):
    add_discussion_comment: _AddedComment


class _Html(GraphQLModel):
    body_html: str = Field("", alias="bodyHTML")


class _HtmlData(GraphQLModel):
    node: _Html


class _EmptyData(GraphQLModel):
    """An answer of which nothing is needed."""


def fetch_discussion(repo: Repository, ref: ForgeThread) -> ThreadPosts:
    """Return title, opening text and comments, each followed by its replies.

    Raises the errors of PyGithub, as all of this file does.
    """
    pages = _fetch_pages(repo, ref)
    newest = pages[-1]
    comments = [comment for page in pages for comment in page.comments.nodes]
    return ThreadPosts(
        title=newest.title,
        posts=(newest.post(OPENING), *map(_post, _visible_comments(comments))),
        unread=max(0, newest.comments.total_count - len(comments)),
    )


def find_own_comment(repo: Repository, ref: ForgeThread, mark: str) -> str | None:
    comments = [
        comment for page in _fetch_pages(repo, ref) for comment in page.comments.nodes
    ]
    own = (
        c.id
        for c in _visible_comments(comments)
        if c.viewer_did_author and mark in c.body
    )
    return next(own, None)


def add_comment(repo: Repository, ref: ForgeThread, text: str) -> str:
    asked = {"discussionId": _fetch_discussion_id(repo, ref), "body": text}
    answer = mutate(repo, ADD_COMMENT, {"input": asked}, _AddedCommentData)
    return answer.add_discussion_comment.comment.id


def edit_comment(repo: Repository, comment: str, text: str) -> None:
    mutate(
        repo, EDIT_COMMENT, {"input": {"commentId": comment, "body": text}}, _EmptyData
    )


def delete_comment(repo: Repository, comment: str) -> None:
    mutate(repo, DELETE_COMMENT, {"input": {"id": comment}}, _EmptyData)


def fetch_html(repo: Repository, ref: ForgeThread, comment: str) -> str:
    """Return a comment as it is rendered, or the opening text for an empty one."""
    asked: dict[str, object] = {"id": comment or _fetch_discussion_id(repo, ref)}
    return query(repo, POST_HTML_QUERY, asked, _HtmlData).node.body_html


def add_discussion_reaction(
    repo: Repository, ref: ForgeThread, comment: str, reaction: str
) -> None:
    """React to a comment, or to the opening text where `comment` is empty."""
    asked = {
        "subjectId": comment or _fetch_discussion_id(repo, ref),
        "content": _REACTIONS[reaction],
    }
    mutate(repo, ADD_REACTION, {"input": asked}, _EmptyData)


def _fetch_pages(repo: Repository, ref: ForgeThread) -> list[_Discussion]:
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _Discussion:
        variables = {**asked, "before": before}
        return query(
            repo, DISCUSSION_QUERY, variables, _DiscussionData
        ).repository.discussion

    return read_pages_backwards(read, lambda found: found.comments.page_info)


def _fetch_discussion_id(repo: Repository, ref: ForgeThread) -> str:
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}
    return query(
        repo, DISCUSSION_ID_QUERY, asked, _DiscussionIdData
    ).repository.discussion.id


def _visible_comments(comments: list[_DiscussionComment]) -> Iterator[_DiscussionReply]:
    for comment in comments:
        for one in (comment, *comment.replies.nodes):
            if one.is_shown:
                yield one


def _post(comment: _DiscussionReply) -> ThreadPost:
    return comment.post(comment.id)
