"""One authenticated call to the REST API, as its endpoint sees it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.fakes.github.access import (
    READ_METADATA,
    Need,
    on_thread,
    require,
    visible_repo,
)
from tests.fakes.github.acts.rules import check_archived
from tests.fakes.github.auth import Caller, CallerKind
from tests.fakes.github.exchange import Answer, RefusedError, Request, not_found
from tests.fakes.github.state import App, Comment, Issue, Repo, User, World

MAX_PAGE = 100
DEFAULT_PAGE = 30


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request with its caller, and the parts of its path by name."""

    world: World
    caller: Caller
    request: Request
    args: Mapping[str, str]

    def repo(self, need: Need = READ_METADATA) -> Repo:
        """Return the path's repository; 404 if it's hidden, 403 without the right."""
        full_name = f"{self.args['owner']}/{self.args['repo']}"
        repo = visible_repo(self.world, self.caller, full_name)
        self._require(repo, need)
        return repo

    def issue(self, need: Need) -> Issue:
        """Return the path's issue or pull request."""
        repo = self.repo()
        issue = self.world.find_issue(repo.full_name, self.number("issue_number"))
        if issue is None:
            self._require(repo, need)
            raise not_found()
        self._require(repo, on_thread(need, issue))
        return issue

    def pull(self, need: Need) -> Issue:
        repo = self.repo(need)
        issue = self.world.find_issue(repo.full_name, self.number("pull_number"))
        if issue is None or issue.pull is None:
            raise not_found()
        return issue

    def comment(self, need: Need) -> Comment:
        repo = self.repo()
        comment = self.world.comments.get(self.number("comment_id"))
        if comment is None or comment.repo != repo.full_name:
            raise not_found()
        issue = self.world.issue(repo.full_name, comment.number)
        self._require(repo, on_thread(need, issue))
        return comment

    def _require(self, repo: Repo, need: Need) -> None:
        require(self.caller, repo, need)
        if need.level != "read":
            check_archived(self.world, repo)

    def number(self, name: str) -> int:
        if not self.args[name].isdecimal():
            raise not_found()
        return int(self.args[name])

    def user(self) -> User:
        """Return who acts; nobody does without a credential."""
        if self.caller.user is None:
            raise RefusedError(401, "Requires authentication")
        return self.caller.user

    def actor(self) -> str:
        return self.user().login

    def app_slug(self) -> str | None:
        """Return the App in whose name a text is written."""
        return self.caller.app.slug if self.caller.app else None

    def app(self) -> App:
        """Return the App that calls in its own name."""
        if self.caller.kind is not CallerKind.APP or self.caller.app is None:
            raise RefusedError(401, "A JSON web token could not be decoded")
        return self.caller.app


Endpoint = Callable[[Call], Answer]


@dataclass(frozen=True)
class Route:
    """`template` is written as in GitHub's OpenAPI description."""

    method: str
    template: str
    endpoint: Endpoint


def page_span(call: Call) -> tuple[int, int]:
    """Return page number and size; sizes over 100 count as 100."""
    size = _positive(call.request.query.get("per_page"), DEFAULT_PAGE)
    return _positive(call.request.query.get("page"), 1), min(size, MAX_PAGE)


def paged(call: Call, items: Sequence[Any]) -> Answer:
    """Answer with one page, and with links to the others."""
    page, size = page_span(call)
    part = list(items[(page - 1) * size : page * size])
    return Answer(status=200, body=part, headers=page_links(call, len(items)))


def page_links(call: Call, total: int) -> dict[str, str]:
    """Return the Link header, absent where one page holds all.

    https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    page, size = page_span(call)
    last = max(1, -(-total // size))
    targets: dict[str, int] = {}
    if page > 1:
        targets |= {"prev": page - 1, "first": 1}
    if page < last:
        targets |= {"next": page + 1, "last": last}
    links = [f'<{_page_url(call, n)}>; rel="{rel}"' for rel, n in targets.items()]
    return {"Link": ", ".join(links)} if links else {}


def _page_url(call: Call, page: int) -> str:
    query = urlencode({**call.request.query, "page": page})
    return f"{call.world.api_url}{call.request.path}?{query}"


def _positive(text: str | None, default: int) -> int:
    if text is None or not text.isdecimal():
        return default
    return max(1, int(text))
