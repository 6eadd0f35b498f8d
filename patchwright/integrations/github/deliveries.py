"""Find deliveries that did not arrive, and ask for them again.

GitHub does not send a delivery twice by itself.
https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import structlog
from pydantic import TypeAdapter, field_validator
from requests.utils import parse_header_links

from patchwright.core.plugin import DeliveryAttempt
from patchwright.core.settings.fields import is_address
from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.client import GitHubClient

MAX_PAGES: Final = 20
_NEWEST: Final = 30
_ARRIVED: Final = range(200, 300)
# What we called malformed or too large once, we would again.
_HOPELESS: Final = (400, 413)

log = structlog.get_logger(__name__)
Headers = Mapping[str, Any]
# Method, path and query of a request to its headers and JSON.
Call = Callable[[str, str, dict[str, str]], tuple[Headers, Any]]


class HookConfig(Value):
    """Where a webhook sends its deliveries, in which form, and how carefully."""

    url: str = ""
    content_type: str = "form"
    insecure_ssl: str | float = "0"

    @field_validator("url")
    @classmethod
    def _drop_path(cls, value: str) -> str:
        """Take out what PyGithub fills in where there is none: the request's path."""
        return value if is_address(value) else ""

    @property
    def checks_certificate(self) -> bool:
        return str(self.insecure_ssl) != "1"


_ATTEMPTS: TypeAdapter[tuple[DeliveryAttempt, ...]] = TypeAdapter(
    tuple[DeliveryAttempt, ...]
)


@dataclass(frozen=True)
class GitHubHook:
    """A webhook whose deliveries can be looked at; `path` is its address in the API.

    Its calls raise the errors of `core.types.errors`.
    """

    path: str
    call: Call

    def list_failed(self, since: datetime) -> tuple[DeliveryAttempt, ...]:
        """Return the attempts that failed, newest first, if another may succeed."""
        return tuple(
            attempt
            for attempt in self._attempts(since)
            if attempt.status_code not in _ARRIVED
            and attempt.status_code not in _HOPELESS
        )

    def list_newest(self) -> tuple[DeliveryAttempt, ...]:
        """Return the newest attempts with any result, newest first."""
        query = {"per_page": str(_NEWEST)}
        _, answer = self.call("GET", f"{self.path}/deliveries", query)
        return _ATTEMPTS.validate_python(answer)

    def fetch_config(self) -> HookConfig:
        _, answer = self.call("GET", f"{self.path}/config", {})
        return HookConfig.model_validate(answer)

    def redeliver(self, attempt_id: int) -> None:
        self.call("POST", f"{self.path}/deliveries/{attempt_id}/attempts", {})

    def _attempts(self, since: datetime) -> Iterator[DeliveryAttempt]:
        query = {"per_page": "100", "status": "failure"}
        for _ in range(MAX_PAGES):
            headers, answer = self.call("GET", f"{self.path}/deliveries", query)
            page = _ATTEMPTS.validate_python(answer)
            yield from (one for one in page if one.delivered_at >= since)
            cursor = _next_cursor(headers)
            if not page or not cursor or page[-1].delivered_at < since:
                return
            query = {**query, "cursor": cursor}
        log.warning("too_many_failed_deliveries", hook=self.path)


def find_hook(api: GitHubClient, repo: RepoRef, url: str) -> GitHubHook | None:
    """Return the repository's hook that calls this address, if we may look at it."""
    try:
        found = api.ask_now(
            repo,
            lambda asked: next(
                (one.id for one in asked.get_hooks() if one.config.get("url") == url),
                None,
            ),
        )
    except (NotFoundError, PermissionDeniedError):
        return None

    def call(method: str, path: str, query: dict[str, str]) -> tuple[Headers, Any]:
        return api.ask_now(
            repo,
            lambda asked: asked.requester.requestJsonAndCheck(method, path, query),
        )

    if found is None:
        return None
    return GitHubHook(f"/repos/{repo.full_name}/hooks/{found}", call)


def _next_cursor(headers: Headers) -> str:
    links = parse_header_links(headers.get("link", ""))
    urls = (link["url"] for link in links if link.get("rel") == "next")
    query = urlsplit(next(urls, "")).query
    return parse_qs(query).get("cursor", [""])[0]
