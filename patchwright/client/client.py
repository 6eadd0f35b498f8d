"""Call the API: a method for each operation, lists as iterators, errors as exceptions.

The names of the methods are those of the operations in `/openapi.json`.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from http import HTTPStatus
from threading import Event
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from patchwright.client.models import (
    AcceptedRequest,
    AccountView,
    ConversationDetails,
    ConversationList,
    ConversationView,
    EventList,
    EventView,
    Problem,
    RepositoryList,
    RepositoryView,
    RunConfiguration,
    RunEntry,
    RunLinkList,
    RunLinkView,
    RunList,
    RunResult,
    SettingList,
    SharedRun,
    SpendReport,
    TrajectoryView,
)

_TIMEOUT_S: Final = 30.0
# A stream says something at least every few seconds, and ends after a minute.
_SILENCE_S: Final = 30.0
_PER_PAGE: Final = 100
AnswerT = TypeVar("AnswerT", bound=BaseModel)


def _wait(seconds: float) -> None:
    # An interrupt ends it, as it would `time.sleep`.
    Event().wait(seconds)


class ApiProblemError(Exception):
    """The service did not do it; `problem` says why, and how to fix it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem = problem

    @property
    def status(self) -> int:
        return self.problem.status

    @property
    def code(self) -> str:
        """The kind of problem, such as `not-found`."""
        return self.problem.code


class TooManyRequestsError(ApiProblemError):
    """These were too many requests; in `retry_after_s` seconds one may send more."""

    def __init__(self, problem: Problem, retry_after_s: float) -> None:
        super().__init__(problem)
        self.retry_after_s = retry_after_s


class Client:
    """One service, as somebody with an API token uses it.

    `base_url` is what the service calls `server.public_url`. Every method raises
    `ApiProblemError` where the service refuses, and httpx's errors where it does not
    answer. With the same `key` a request that is sent again is done once.

    Where there were too many requests, a call waits up to `max_wait_s` and goes on, or
    raises `TooManyRequestsError`. `wait` takes the seconds.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_s: float = _TIMEOUT_S,
        max_wait_s: float = 0.0,
        wait: Callable[[float], object] = _wait,
    ) -> None:
        self._max_wait_s, self._wait = max_wait_s, wait
        self._http = httpx.Client(
            base_url=base_url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_s,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def read_account(self) -> AccountView:
        """Tell whose token it is, and what it may do."""
        return self._read(AccountView, "/api/account")

    def start_conversation(
        self,
        repository: str,
        text: str = "",
        *,
        plan_first: bool = False,
        key: str = "",
    ) -> AcceptedRequest:
        """Start a run; `repository` is `OWNER/NAME`, or the URL of an issue there."""
        body = {"repository": repository, "text": text, "plan_first": plan_first}
        return self._write("/api/conversations", body, key)

    def list_conversations(self, *, repository: str = "") -> Iterator[ConversationView]:
        """Yield those that you may see, the newest first, page by page."""
        wanted = {"repository": repository}
        for page in self._pages(ConversationList, "/api/conversations", wanted):
            yield from page.items

    def read_conversation(self, conversation_id: str) -> ConversationDetails:
        return self._read(ConversationDetails, _path(conversation_id))

    def read_events(
        self,
        conversation_id: str,
        *,
        start_id: int = 1,
        kinds: Iterable[str] = (),
    ) -> Iterator[EventView]:
        """Yield the events that are there now, page by page."""
        next_id: int | None = start_id
        kind = list(kinds)
        while next_id is not None:
            wanted = {"start_id": next_id, "kind": kind, "limit": _PER_PAGE}
            page = self._read(EventList, _path(conversation_id, "events"), wanted)
            yield from page.items
            next_id = page.next_id

    def stream_events(
        self, conversation_id: str, *, after: int = 0
    ) -> Iterator[EventView]:
        """Yield the events after one of them, as they come, until the run is over.

        It asks again by itself when a stream ends, and misses nothing.
        """
        is_over = False
        while not is_over:
            is_over = True
            for name, data in self._messages(conversation_id, after):
                if name == "event":
                    event = EventView.model_validate_json(data)
                    after = event.id
                    yield event
                is_over = name == "end"

    def read_trajectory(self, conversation_id: str, *, run: str = "") -> TrajectoryView:
        """Return the log of a run as one document; without `run` the newest one."""
        path = _path(conversation_id, "trajectory")
        return self._read(TrajectoryView, path, {"run": run})

    def read_diff(self, conversation_id: str, *, run: str = "") -> str:
        """Return the change; empty while there is none."""
        path = _path(conversation_id, "diff")
        return self._ask("GET", path, params={"run": run}).text

    def read_configuration(
        self, conversation_id: str, *, run: str = ""
    ) -> RunConfiguration:
        path = _path(conversation_id, "config")
        return self._read(RunConfiguration, path, {"run": run})

    def send_message(
        self, conversation_id: str, text: str, *, key: str = ""
    ) -> AcceptedRequest:
        """Tell a run something, answer its question, or ask for more."""
        return self._write(_path(conversation_id, "message"), {"text": text}, key)

    def approve(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "approve"), {}, key)

    def reject(
        self, conversation_id: str, reason: str = "", *, key: str = ""
    ) -> AcceptedRequest:
        return self._write(_path(conversation_id, "reject"), {"reason": reason}, key)

    def confirm(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "confirm"), {}, key)

    def stop(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "stop"), {}, key)

    def pause(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "pause"), {}, key)

    def resume(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "resume"), {}, key)

    def retry(self, conversation_id: str, *, key: str = "") -> AcceptedRequest:
        return self._write(_path(conversation_id, "retry"), {}, key)

    def change_budget(
        self, conversation_id: str, amount: str, *, key: str = ""
    ) -> AcceptedRequest:
        """Allow a run more: `+2` adds $2, `5` makes it $5 in all."""
        return self._write(_path(conversation_id, "budget"), {"amount": amount}, key)

    def list_runs(self, *, state: str = "", repository: str = "") -> Iterator[RunEntry]:
        """Yield those that you may see, the newest first, page by page."""
        wanted = {"state": state, "repository": repository}
        for page in self._pages(RunList, "/api/runs", wanted):
            yield from page.items

    def read_run(self, run_id: str) -> RunResult:
        return self._read(RunResult, f"/api/runs/{run_id}")

    def list_run_links(self, run_id: str) -> RunLinkList:
        """Return the links that open a run now; for those who may share it."""
        return self._read(RunLinkList, _links(run_id))

    def share_run(self, run_id: str, *, key: str = "") -> SharedRun:
        """Make a link that opens a run to everybody who has it; `url` is the link."""
        return self._change(SharedRun, "POST", _links(run_id), {}, key)

    def revoke_run_links(self, run_id: str, *, key: str = "") -> RunLinkList:
        """Take all links to a run back, and return those that were open."""
        return self._change(RunLinkList, "DELETE", _links(run_id), {}, key)

    def revoke_link(self, link_id: str, *, key: str = "") -> RunLinkView:
        """Take a link back: it opens nothing any more."""
        return self._change(RunLinkView, "DELETE", f"/api/links/{link_id}", {}, key)

    def list_repositories(self) -> Iterator[RepositoryView]:
        for page in self._pages(RepositoryList, "/api/repositories", {}):
            yield from page.items

    def read_spend(self, *, by: str = "day", days: int = 30) -> SpendReport:
        """Return what was spent, by `day`, `repository` or `person`; for admins."""
        return self._read(SpendReport, "/api/spend", {"by": by, "days": days})

    def read_settings(self) -> SettingList:
        """Return the settings as they count, without the secrets; for admins."""
        return self._read(SettingList, "/api/settings")

    def _pages(
        self, kind: type[AnswerT], path: str, wanted: Mapping[str, str]
    ) -> Iterator[AnswerT]:
        # What is empty is not asked for.
        query: dict[str, Any] = {name: text for name, text in wanted.items() if text}
        query["limit"] = _PER_PAGE
        cursor: str | None = ""
        while cursor is not None:
            answer = self._ask("GET", path, params={**query, "cursor": cursor})
            yield kind.model_validate_json(answer.content)
            cursor = answer.json()["next"]

    def _messages(self, conversation_id: str, after: int) -> Iterator[tuple[str, str]]:
        """Yield the name and the data of each message of one stream."""
        request = self._http.build_request(
            "GET",
            _path(conversation_id, "events/stream"),
            params={"after": after},
            timeout=httpx.Timeout(_TIMEOUT_S, read=_SILENCE_S),
        )
        with closing(self._send(request, stream=True)) as answer:
            name = ""
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, value

    def _read(
        self,
        kind: type[AnswerT],
        path: str,
        query: Mapping[str, Any] | None = None,
    ) -> AnswerT:
        return kind.model_validate_json(self._ask("GET", path, params=query).content)

    def _write(self, path: str, body: Mapping[str, Any], key: str) -> AcceptedRequest:
        return self._change(AcceptedRequest, "POST", path, body, key)

    def _change(
        self,
        kind: type[AnswerT],
        method: str,
        path: str,
        body: Mapping[str, Any],
        key: str,
    ) -> AnswerT:
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        answer = self._ask(method, path, json=body, headers=headers)
        return kind.model_validate_json(answer.content)

    def _ask(self, method: str, path: str, **sent: Any) -> httpx.Response:  # noqa: ANN401 - as httpx takes it
        return self._send(self._http.build_request(method, path, **sent))

    def _send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send it until it is answered, as long as it may wait."""
        left_s = self._max_wait_s
        while True:
            answer = self._http.send(request, stream=stream)
            if not answer.is_error:
                return answer
            with closing(answer):
                answer.read()
            error = _error_of(answer)
            if (
                not isinstance(error, TooManyRequestsError)
                or error.retry_after_s > left_s
            ):
                raise error
            left_s -= error.retry_after_s
            self._wait(error.retry_after_s)


def _path(conversation_id: str, part: str = "") -> str:
    return f"/api/conversations/{conversation_id}{f'/{part}' if part else ''}"


def _links(run_id: str) -> str:
    return f"/api/runs/{run_id}/links"


def _error_of(answer: httpx.Response) -> ApiProblemError:
    problem = _problem_of(answer)
    after = answer.headers.get("retry-after", "")
    is_limited = problem.status == HTTPStatus.TOO_MANY_REQUESTS
    # What stands between us and the service may give a date: it is not ours then.
    if is_limited and after.isascii() and after.isdigit():
        return TooManyRequestsError(problem, float(after))
    return ApiProblemError(problem)


def _problem_of(answer: httpx.Response) -> Problem:
    try:
        return Problem.model_validate(answer.json())
    except (ValidationError, json.JSONDecodeError):
        # It comes from something between us and the service.
        status = HTTPStatus(answer.status_code)
    return Problem(
        type="about:blank",
        title=status.phrase,
        status=status.value,
        detail=f"{answer.url.path} did not answer as the API does.",
        code="unknown",
    )
