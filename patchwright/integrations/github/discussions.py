"""Read discussions and speak in them, which only GraphQL can.

https://docs.github.com/en/graphql/guides/using-the-graphql-api-for-discussions
"""

from collections.abc import Iterator
from datetime import datetime

from github.Repository import Repository
from pydantic import Field

from patchwright.core.types.threads import ForgeThread, Post
from patchwright.integrations.github.graphql import (
    WRITTEN,
    PageBefore,
    Part,
    Written,
    mutate,
    owner_and_name,
    query,
)
from patchwright.integrations.github.posts import OPENING, Posts, read_back

# Of what belongs to a page, GitHub gives at most a hundred replies each.
QUERY = f"""\
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
{WRITTEN}"""
FIND = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { discussion(number: $number) { id } }
}
"""
POST = """\
mutation($input: AddDiscussionCommentInput!) {
  addDiscussionComment(input: $input) { comment { id } }
}
"""
EDIT = """\
mutation($input: UpdateDiscussionCommentInput!) {
  updateDiscussionComment(input: $input) { comment { id } }
}
"""
DELETE = """\
mutation($input: DeleteDiscussionCommentInput!) {
  deleteDiscussionComment(input: $input) { comment { id } }
}
"""
REACT = """\
mutation($input: AddReactionInput!) {
  addReaction(input: $input) { reaction { content } }
}
"""
HTML = """\
query postHtml($id: ID!) {
  node(id: $id) { ... on Comment { bodyHTML } }
}
"""
# GraphQL has names of its own for these.
# https://docs.github.com/en/graphql/reference/enums#reactioncontent
_REACTIONS = {"eyes": "EYES", "-1": "THUMBS_DOWN"}


class _Reply(Written):
    is_minimized: bool = False
    deleted_at: datetime | None = None
    viewer_did_author: bool = False

    @property
    def is_shown(self) -> bool:
        return not self.is_minimized and self.deleted_at is None


class _Replies(Part):
    nodes: tuple[_Reply, ...]


class _Comment(_Reply):
    replies: _Replies


class _Comments(Part):
    total_count: int
    page_info: PageBefore
    nodes: tuple[_Comment, ...]


class _Discussion(Written):
    title: str
    comments: _Comments


class _Repository(Part):
    discussion: _Discussion


class _Data(Part):
    repository: _Repository


class _Node(Part):
    id: str


class _FoundRepository(Part):
    discussion: _Node


class _Found(Part):
    repository: _FoundRepository


class _Posted(Part):
    comment: _Node


class _PostData(Part):
    add_discussion_comment: _Posted


class _Html(Part):
    body_html: str = Field("", alias="bodyHTML")


class _HtmlData(Part):
    node: _Html


class _Nothing(Part):
    """An answer of which nothing is needed."""


def fetch_discussion(repo: Repository, ref: ForgeThread) -> Posts:
    """Return title, opening text and comments, each followed by its replies.

    Raises the errors of PyGithub, as all of this file does.
    """
    pages = _fetch_pages(repo, ref)
    newest = pages[-1]
    comments = [comment for page in pages for comment in page.comments.nodes]
    return Posts(
        title=newest.title,
        posts=(newest.post(OPENING), *map(_post, _shown(comments))),
        unread=max(0, newest.comments.total_count - len(comments)),
    )


def find_own_comment(repo: Repository, ref: ForgeThread, mark: str) -> str | None:
    comments = [
        comment for page in _fetch_pages(repo, ref) for comment in page.comments.nodes
    ]
    own = (c.id for c in _shown(comments) if c.viewer_did_author and mark in c.body)
    return next(own, None)


def add_comment(repo: Repository, ref: ForgeThread, text: str) -> str:
    asked = {"discussionId": _find(repo, ref), "body": text}
    answer = mutate(repo, POST, {"input": asked}, _PostData)
    return answer.add_discussion_comment.comment.id


def edit_comment(repo: Repository, comment: str, text: str) -> None:
    mutate(repo, EDIT, {"input": {"commentId": comment, "body": text}}, _Nothing)


def delete_comment(repo: Repository, comment: str) -> None:
    mutate(repo, DELETE, {"input": {"id": comment}}, _Nothing)


def fetch_html(repo: Repository, ref: ForgeThread, comment: str) -> str:
    """Return a comment as it is rendered, or the opening text for an empty one."""
    asked: dict[str, object] = {"id": comment or _find(repo, ref)}
    return query(repo, HTML, asked, _HtmlData).node.body_html


def react(repo: Repository, ref: ForgeThread, comment: str, reaction: str) -> None:
    """React to a comment, or to the opening text where `comment` is empty."""
    asked = {
        "subjectId": comment or _find(repo, ref),
        "content": _REACTIONS[reaction],
    }
    mutate(repo, REACT, {"input": asked}, _Nothing)


def _fetch_pages(repo: Repository, ref: ForgeThread) -> list[_Discussion]:
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}

    def read(before: str | None) -> _Discussion:
        variables = {**asked, "before": before}
        return query(repo, QUERY, variables, _Data).repository.discussion

    return read_back(read, lambda found: found.comments.page_info)


def _find(repo: Repository, ref: ForgeThread) -> str:
    asked = {**owner_and_name(ref.repo.full_name), "number": ref.number}
    return query(repo, FIND, asked, _Found).repository.discussion.id


def _shown(comments: list[_Comment]) -> Iterator[_Reply]:
    for comment in comments:
        for one in (comment, *comment.replies.nodes):
            if one.is_shown:
                yield one


def _post(comment: _Reply) -> Post:
    return comment.post(comment.id)
