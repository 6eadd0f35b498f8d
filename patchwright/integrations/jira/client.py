"""Ask one Jira, in the cloud or a data center; its refusals become our errors."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit

from jira import JIRA
from pydantic import JsonValue
from requests import PreparedRequest, RequestException, Response, Session
from requests.exceptions import SSLError

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.http.limits import retry_after_limits
from patchwright.integrations.jira.text.adf_reader import adf_to_markdown
from patchwright.integrations.jira.text.adf_writer import to_adf
from patchwright.integrations.jira.text.wiki_reader import wiki_to_markdown
from patchwright.integrations.jira.text.wiki_writer import to_wiki
from patchwright.integrations.jira.webhooks.payloads import (
    JiraUser,
    JsonObject,
    parse_answer,
)

# Where Jira asks us to wait and does not say how long.
DEFAULT_WAIT = timedelta(minutes=1)
_TOO_MANY, _CONFLICT, _BROKEN = 429, 409, 500
_NO_MESSAGE: Final = "no explanation"
_MAX_CHARS: Final = 500
_TITLE: Final = re.compile(r"<title>([^<]{1,200})", re.IGNORECASE)
# Whoever is not let in is nobody there, and nobody is told that a ticket is missing.
# https://developer.atlassian.com/server/jira/platform/jira-rest-api-example-basic-authentication-6291732/
_LOGIN: Final = "x-seraph-loginreason"
_NOT_LET_IN: Final = ("AUTHENTICATED_FAILED", "AUTHENTICATION_DENIED")
_DENIED: Final = "x-authentication-denied-reason"


@contextmanager
def translate_errors() -> Iterator[None]:
    """Let no error of the transport out."""
    try:
        yield
    except SSLError as error:
        raise ServiceError(
            "Jira's certificate comes from an authority that is not trusted here; set "
            "jira.ca_bundle to the file of that authority"
        ) from error
    except RequestException as error:
        raise ServiceUnavailableError(
            f"Jira did not answer ({type(error).__name__})"
        ) from error


def map_error(answer: Response, now: datetime) -> ServiceError:
    """Say in our words what an answer of 400 and above means."""
    status, headers = answer.status_code, answer.headers
    words = f"Jira answered {status}: {_message_of(answer)}"
    if status == _TOO_MANY:
        return RateLimitedError(words, _end_of_wait(headers, now))
    if headers.get(_DENIED):
        return AuthenticationError(f"{words}; a person must log in once with this user")
    if any(reason in headers.get(_LOGIN, "") for reason in _NOT_LET_IN):
        return AuthenticationError(
            f"{words}; it does not accept jira.token: set a valid one"
        )
    if status >= _BROKEN or status == _CONFLICT:
        return ServiceUnavailableError(words)
    if status in _INVALID:
        return InvalidRequestError(words, _fields(answer))
    return _BY_STATUS.get(status, ServiceError)(words)


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: NotFoundError,
}
_INVALID: Final = frozenset({400, 413, 422})


def _end_of_wait(headers: Mapping[str, str], now: datetime) -> datetime:
    # https://developer.atlassian.com/cloud/jira/platform/rate-limiting/
    wait = headers.get("retry-after", "")
    if wait.isdecimal():
        return now + timedelta(seconds=int(wait))
    try:
        return parsedate_to_datetime(wait).astimezone(UTC)
    except ValueError:
        return now + DEFAULT_WAIT


def _fields(answer: Response) -> frozenset[str]:
    """Return the names of the fields that are wrong."""
    try:
        data = answer.json()
    except ValueError:
        return frozenset()
    single = data.get("errors") if isinstance(data, dict) else None
    return frozenset(single) if isinstance(single, dict) else frozenset()


def _message_of(answer: Response) -> str:
    """Return what is wrong as a whole, and what is wrong with single fields."""
    try:
        data = answer.json()
    except ValueError:
        title = _TITLE.search(answer.text)
        return title[1].strip() if title else _NO_MESSAGE
    return _message_in(data)[:_MAX_CHARS] if isinstance(data, dict) else _NO_MESSAGE


def _message_in(data: Mapping[str, object]) -> str:
    general = data.get("errorMessages")
    parts = [str(part) for part in general] if isinstance(general, list) else []
    single = data.get("errors")
    if isinstance(single, dict):
        parts += [f"{field}: {problem}" for field, problem in single.items()]
    other = (data.get(name) for name in ("message", "errorMessage", "error"))
    parts += [part for part in other if isinstance(part, str)]
    return "; ".join(part for part in parts if part) or _NO_MESSAGE


@dataclass(frozen=True, slots=True)
class Deployment:
    """How texts and people are written, and where tickets are searched.

    `version` is that of the API. `read` takes a text as Jira has it, which may be
    null. With `has_tokens` the pages of a search are named by tokens.
    """

    version: str
    person_key: str
    write: Callable[[str], object]
    read: Callable[[JsonValue], str]
    search: str
    has_tokens: bool

    def person(self, person_id: str) -> JsonObject:
        return {self.person_key: person_id}


def _read_document(body: JsonValue) -> str:
    # A field of one line is a string in the cloud too.
    return adf_to_markdown(body) if isinstance(body, dict) else _read_wiki(body)


def _read_wiki(body: JsonValue) -> str:
    return wiki_to_markdown(body) if isinstance(body, str) else ""


# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/
CLOUD: Final = Deployment(
    version="3",
    person_key="accountId",
    write=to_adf,
    read=_read_document,
    search="search/jql",
    has_tokens=True,
)
# https://developer.atlassian.com/server/jira/platform/rest/v10000/api-group-search/
DATA_CENTER: Final = Deployment(
    version="2",
    person_key="name",
    write=to_wiki,
    read=_read_wiki,
    search="search",
    has_tokens=False,
)


TIMEOUT_S: Final = 15
MAX_TRIES: Final = 3
# Pages to log in at: a data center's own, and Atlassian's.
_LOGINS: Final = ("login.jsp", "/login", "id.atlassian.com")
_EMPTY: Final[Mapping[str, str]] = {}

Body = Mapping[str, object]
T = TypeVar("T")


class JiraClient:
    """Asks as our own user; any thread may ask.

    The library's own methods follow redirects to pages for people, and leave out half
    of what Jira says about an error; its session, address and credential are used.
    """

    def __init__(
        self, jira: JIRA, deployment: Deployment, host: str, clock: Clock
    ) -> None:
        self._jira = jira
        self._clock = clock
        self.deployment = deployment
        self.host = host
        self.base_url = jira.server_url

    @property
    def clock(self) -> Clock:
        return self._clock

    @cached_property
    def own_id(self) -> str:
        """What our user is called in mentions and as an author."""
        return parse_answer(JiraUser, self.get("myself")).id

    def get(
        self, path: str, query: Mapping[str, str] = _EMPTY, version: str = ""
    ) -> JsonValue:
        """Read; asked again where Jira fails, as nothing comes of it."""

        def ask() -> JsonValue:
            return self._ask("GET", self.address(path, version), query=query)

        return self._retry_after_limits(lambda: _repeat(ask))

    def post(self, path: str, body: Body) -> JsonValue:
        return self._retry_after_limits(
            lambda: self._ask("POST", self.address(path), body=body)
        )

    def put(
        self, path: str, body: Body, query: Mapping[str, str] = _EMPTY
    ) -> JsonValue:
        """Write once: whether to repeat it is for those to say who can look first."""
        return self._retry_after_limits(
            lambda: self._ask("PUT", self.address(path), query=query, body=body)
        )

    def delete(self, path: str) -> JsonValue:
        return self._retry_after_limits(lambda: self._ask("DELETE", self.address(path)))

    def address(self, path: str, version: str = "") -> str:
        return f"{self.base_url}/rest/api/{version or self.deployment.version}/{path}"

    @contextmanager
    def open(self, url: str, *, as_ourselves: bool) -> Iterator[Response]:
        """Ask for a file; redirects are the caller's.

        The library's session would read a file whole, however large.
        """
        auth = self._session.auth if as_ourselves else _without_credentials
        with translate_errors(), Session() as session:
            session.auth = auth
            with session.get(
                url,
                stream=True,
                allow_redirects=False,
                timeout=TIMEOUT_S,
                # Of each request: a session's own yields to REQUESTS_CA_BUNDLE.
                verify=self._session.verify,
            ) as answer:
                yield answer

    def close(self) -> None:
        self._jira.close()  # type: ignore[no-untyped-call]  # the library's own

    @property
    def _session(self) -> Session:
        return self._jira._session  # noqa: SLF001 - there is no public way to it

    def _ask(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, str] = _EMPTY,
        body: Body | None = None,
    ) -> JsonValue:
        with translate_errors():
            # The library's own `request` fails to read refusals of an odd shape.
            answer = Session.request(
                self._session,
                method,
                url,
                params=query,
                data=None if body is None else json.dumps(body),
                allow_redirects=False,
                timeout=TIMEOUT_S,
                verify=self._session.verify,
            )
        if not answer.ok:
            raise map_error(answer, self._clock.now())
        return _read(answer)

    def _retry_after_limits(self, ask: Callable[[], T]) -> T:
        return retry_after_limits(ask, self._clock)


def ticket_path(key: str) -> str:
    """Return a ticket's path, out of which a key leads nowhere."""
    return f"issue/{quote(key, safe='')}"


def _without_credentials(request: PreparedRequest) -> PreparedRequest:
    """Stand in for credentials, which requests would else take from a .netrc file."""
    return request


def _repeat(ask: Callable[[], T]) -> T:
    for _ in range(MAX_TRIES - 1):
        try:
            return ask()
        except ServiceUnavailableError:
            continue
    return ask()


def _read(answer: Response) -> JsonValue:
    if answer.is_redirect:
        raise _redirect_error(answer.headers["Location"])
    if not answer.content:
        return None
    try:
        found: JsonValue = answer.json()
    except ValueError as error:
        raise ServiceError("the server at jira.base_url is not Jira") from error
    return found


def _redirect_error(location: str) -> ServiceError:
    if any(login in location for login in _LOGINS):
        return AuthenticationError(
            "Jira asks for a login: check that jira.token is valid"
        )
    host = urlsplit(location).netloc
    return ServiceError(f"Jira redirects to {host}: check jira.base_url")
