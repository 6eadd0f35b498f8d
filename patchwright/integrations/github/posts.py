"""Read the texts of an issue or pull request, the newest first.

REST tells of a text only when anything about it was changed last, and of an issue's
own text that is any comment below it; GraphQL tells when its words were.
https://docs.github.com/en/graphql/reference/interfaces#comment
"""

from collections.abc import Callable
from typing import TypeVar

from github.Repository import Repository
from pydantic import Field

from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadPost, ThreadKind
from patchwright.integrations.github.graphql import (
    POST_FRAGMENT,
    PageBefore,
    GraphQLModel,
    PostNode,
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
        return query(repo, THREAD_QUERY, variables, _ThreadData).repository.issue_or_pull_request

    pages = read_pages_backwards(read, lambda thread: thread.comments.page_info)
    newest = pages[-1]
    comments = [comment for page in pages for comment in page.comments.nodes]
    shown = (c.post(str(c.database_id)) for c in comments if not c.is_minimized)
    return ThreadPosts(
        title=newest.title,
        posts=(newest.post(OPENING), *shown),
        unread=max(0, newest.comments.total_count - len(comments)),
    )


def fetch_opening(repo: Repository, ref: ForgeThread) -> tuple[str, ThreadPost, ThreadKind]:
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
