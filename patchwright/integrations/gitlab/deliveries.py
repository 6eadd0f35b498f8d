"""Find deliveries of a project's webhook that did not arrive, and ask for them again.

GitLab tells of the last seven days, to whoever maintains the project.
https://docs.gitlab.com/api/project_webhooks/
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final

from gitlab.v4.objects import Project
from pydantic import TypeAdapter

from patchwright.core.plugin import DeliveryAttempt
from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.errors import translate_errors
from patchwright.integrations.gitlab.webhooks.payloads import Text, read_time

MAX_PAGES: Final = 5
_PAGE: Final = 100
_NEWEST: Final = 20
_ARRIVED: Final = range(200, 300)
# What we called malformed or too large once, we would again.
_HOPELESS: Final = frozenset({400, 413})
# What an attempt counts as that met nobody: GitLab calls it `internal error`.
NO_ANSWER: Final = 599
# Where the deliveries are that GitLab names by their ids.
IDEMPOTENCY_HEADER: Final = "idempotency-key"


class HookAnswer(Value):
    """A webhook: where it sends what, and whether GitLab has switched it off."""

    id: int
    url: str = ""
    enable_ssl_verification: bool = True
    alert_status: Text = ""
    issues_events: bool = False
    confidential_issues_events: bool = False
    merge_requests_events: bool = False
    note_events: bool = False
    confidential_note_events: bool | None = None
    pipeline_events: bool = False
    push_events: bool = False


class _EventAnswer(Value):
    """One attempt; the time of its own is told by newer servers alone."""

    id: int
    created_at: Text = ""
    request_headers: dict[str, str] = {}
    response_headers: dict[str, str] | None = None
    response_status: Text = ""

    def attempt(self) -> DeliveryAttempt | None:
        """Return it, None where it tells no id or no time."""
        sent = {key.lower(): value for key, value in self.request_headers.items()}
        guid, at = sent.get(IDEMPOTENCY_HEADER, ""), self._time(sent)
        if not guid or at is None:
            return None
        status = self.response_status
        return DeliveryAttempt(
            id=self.id,
            guid=guid,
            delivered_at=at,
            status_code=int(status) if status.isdecimal() else NO_ANSWER,
        )

    def _time(self, sent: dict[str, str]) -> datetime | None:
        """Return when it was sent, as far as anything tells it."""
        if told := read_time(self.created_at):
            return told
        signed = sent.get("webhook-timestamp", "")
        if signed.isdecimal():
            return datetime.fromtimestamp(int(signed), UTC)
        answered = {k.lower(): v for k, v in (self.response_headers or {}).items()}
        try:
            return parsedate_to_datetime(answered.get("date", "")).astimezone(UTC)
        except ValueError:
            return None


_HOOKS: Final = TypeAdapter(tuple[HookAnswer, ...])
_EVENTS: Final = TypeAdapter(tuple[_EventAnswer, ...])


@dataclass(frozen=True)
class GitLabHook:
    """A webhook of a project; a `Hook`.

    Its calls raise the errors of `core.types.errors`.
    """

    api: GitLabClient
    repo: RepoRef
    answer: HookAnswer

    @property
    def path(self) -> str:
        return f"/projects/{self.repo.full_name}/hooks/{self.answer.id}"

    def list_failed(self, since: datetime) -> tuple[DeliveryAttempt, ...]:
        """Return the attempts that failed, newest first, if another may succeed."""
        return tuple(
            attempt
            for attempt in self._attempts(MAX_PAGES, _PAGE)
            if attempt.delivered_at >= since
            and attempt.status_code not in _ARRIVED
            and attempt.status_code not in _HOPELESS
        )

    def list_newest(self) -> tuple[DeliveryAttempt, ...]:
        """Return the newest attempts with any result, newest first."""
        return tuple(self._attempts(1, _NEWEST))

    def redeliver(self, attempt_id: int) -> None:
        """Ask for it again, which may be done five times a minute."""
        path = f"/hooks/{self.answer.id}/events/{attempt_id}/resend"
        self.api.ask_now(self.repo, lambda asked: _post(asked, path))

    def _attempts(self, pages: int, per_page: int) -> Iterator[DeliveryAttempt]:
        path = f"/hooks/{self.answer.id}/events"
        for page in range(1, pages + 1):
            query = {"page": page, "per_page": per_page}
            answer = self.api.ask_now(self.repo, partial(_get, path=path, query=query))
            with translate_errors():
                found = _EVENTS.validate_python(answer)
            attempts = (one.attempt() for one in found)
            yield from (one for one in attempts if one is not None)
            if len(found) < per_page:
                return


def find_hook(api: GitLabClient, repo: RepoRef, url: str) -> GitLabHook | None:
    """Return the project's hook that calls this address, if we may look at it."""
    hooks = list_hooks(api, repo)
    found = next((one for one in hooks or () if one.url.rstrip("/") == url), None)
    return GitLabHook(api, repo, found) if found else None


def list_hooks(api: GitLabClient, repo: RepoRef) -> tuple[HookAnswer, ...] | None:
    """Return the project's hooks, None if we may not look at them."""
    query = {"per_page": _PAGE}
    try:
        return api.ask_now(
            repo, lambda asked: _HOOKS.validate_python(_get(asked, "/hooks", query))
        )
    except (NotFoundError, PermissionDeniedError):
        return None


def _get(project: Project, path: str, query: dict[str, int]) -> object:
    place = f"/projects/{project.encoded_id}{path}"
    return project.manager.gitlab.http_get(place, query_data=query)


def _post(project: Project, path: str) -> object:
    place = f"/projects/{project.encoded_id}{path}"
    return project.manager.gitlab.http_post(place)
