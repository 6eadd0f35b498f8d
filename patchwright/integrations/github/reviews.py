"""Read the review threads of a pull request, which GitHub tells in GraphQL alone.

REST has the comments, but not which of them belong to a thread that is resolved.
https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread
"""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from github import GithubException
from github.Repository import Repository
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import DiffSide, Post, ReviewThread, ThreadRef
from patchwright.integrations.github.payloads import GHOST, Text
from patchwright.integrations.github.webhook import SERVICE

MAX_PAGES = 5
MAX_TRIES = 3
_BROKEN = 500
QUERY = """\
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          path
          line
          startLine
          originalLine
          originalStartLine
          diffSide
          isResolved
          isOutdated
          comments(first: 100) {
            nodes {
              id
              body
              createdAt
              diffHunk
              isMinimized
              author {
                __typename
                login
                ... on User { databaseId }
                ... on Bot { databaseId }
              }
            }
          }
        }
      }
    }
  }
}
"""


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class _Author(_Part):
    kind: str = Field("User", alias="__typename")
    login: str
    database_id: int | None = None


class _Comment(_Part):
    id: str
    body: Text = ""
    created_at: datetime
    diff_hunk: str = ""
    is_minimized: bool = False
    author: _Author | None = None


class _Comments(_Part):
    nodes: tuple[_Comment, ...]


class _Side(StrEnum):
    LEFT = "LEFT"
    RIGHT = "RIGHT"


class _Thread(_Part):
    path: str
    line: int | None = None
    start_line: int | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    diff_side: _Side = _Side.RIGHT
    is_resolved: bool
    is_outdated: bool
    comments: _Comments


class _PageInfo(_Part):
    has_next_page: bool
    end_cursor: str | None = None


class _Threads(_Part):
    page_info: _PageInfo
    nodes: tuple[_Thread, ...]


class _PullRequest(_Part):
    review_threads: _Threads


class _Repository(_Part):
    pull_request: _PullRequest


class _Data(_Part):
    repository: _Repository


class _Answer(_Part):
    data: _Data


def fetch_reviews(repo: Repository, ref: ThreadRef) -> tuple[ReviewThread, ...]:
    """Return the threads in GitHub's order, without what was hidden as spam or abuse.

    Raises the errors of PyGithub.
    """
    threads = (_review(thread) for thread in _fetch_threads(repo, ref))
    return tuple(thread for thread in threads if thread.posts)


def _fetch_threads(repo: Repository, ref: ThreadRef) -> Iterator[_Thread]:
    owner, _, name = ref.repo.full_name.partition("/")
    after: str | None = None
    for _ in range(MAX_PAGES):
        asked = {"owner": owner, "name": name, "number": ref.number, "after": after}
        answer = _Answer.model_validate(_ask(repo, asked))
        found = answer.data.repository.pull_request.review_threads
        yield from found.nodes
        after = found.page_info.end_cursor
        if not found.page_info.has_next_page:
            return


def _ask(repo: Repository, variables: dict[str, object]) -> dict[str, object]:
    """Ask again where GitHub fails: this is a POST, and still no more than a read."""
    for _ in range(MAX_TRIES - 1):
        try:
            return repo.requester.graphql_query(QUERY, variables)[1]
        except GithubException as error:
            if error.status < _BROKEN:
                raise
    return repo.requester.graphql_query(QUERY, variables)[1]


def _review(thread: _Thread) -> ReviewThread:
    comments = thread.comments.nodes
    return ReviewThread(
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
    return Post(
        id=comment.id,
        author=_actor(comment.author),
        text=comment.body,
        at=comment.created_at,
    )


def _actor(author: _Author | None) -> Actor:
    if author is None:
        return Actor(service=SERVICE, login=GHOST)
    is_bot = author.kind == "Bot"
    return Actor(
        service=SERVICE,
        # REST and webhooks write a bot's name so; GraphQL leaves the end out.
        login=f"{author.login}[bot]" if is_bot else author.login,
        external_id="" if author.database_id is None else str(author.database_id),
        is_bot=is_bot,
    )
