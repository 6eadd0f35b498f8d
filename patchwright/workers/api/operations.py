"""An operation of the API as a value, and how requests come to it.

Who may do what, what comes in and what goes out stands in one table of operations: the
checks below, the OpenAPI document and the pages are made from it.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Generic, TypeAlias, TypeVar, get_origin
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError
from starlette.requests import HTTPConnection

from patchwright.core.types.base import Value
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.api.cursors import Page, link_to_next
from patchwright.workers.api.problems import (
    ApiError,
    api_error_of,
    invalid_input,
    invalid_inputs,
    not_allowed,
    not_found,
    respond_problem,
    too_often,
)
from patchwright.workers.web.body import read_body
from patchwright.workers.web.rate_limit import AttemptLimit, address_of, quota_headers

MAX_BODY_BYTES: Final = 256 * 1024
JSON: Final = "application/json"
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}\Z")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,64}\Z")
IDEMPOTENCY_HEADER: Final = "Idempotency-Key"

log = structlog.get_logger(__name__)


class NoInput(Value):
    """The parameters or the body of an operation that takes none."""


QueryT = TypeVar("QueryT", bound=Value)
BodyT = TypeVar("BodyT", bound=Value)


@dataclass(frozen=True)
class Call(Generic[QueryT, BodyT]):
    """One request to an operation, by somebody who may call it.

    `id` is the one in the path, empty where there is none. `key` makes a request that
    is sent again the same one; empty where the sender gave none.
    """

    principal: Principal
    id: str
    query: QueryT
    body: BodyT
    key: str = ""


@dataclass(frozen=True)
class Operation(Generic[QueryT, BodyT]):
    """What the API can do at one address, with one method.

    `least` is the role that it takes. Without an `answer` the text is of `media_type`.
    `title` names what is in the path by its id.
    """

    name: str
    method: str
    path: str
    summary: str
    least: Role
    query: type[QueryT]
    body: type[BodyT]
    answer: type[Value] | None
    handle: Callable[[Call[QueryT, BodyT]], Value | str]
    title: str = "conversation"
    status: int = HTTPStatus.OK
    media_type: str = JSON

    @property
    def is_write(self) -> bool:
        return self.method not in _SAFE_METHODS

    @property
    def has_id(self) -> bool:
        return "{id}" in self.path


# Each has its own kinds of query and body.
AnyOperation: TypeAlias = Operation[Any, Any]


def read_operation(
    path: str,
    handle: Callable[[Call[QueryT, NoInput]], Value | str],
    query: type[QueryT],
    answer: type[Value] | None,
    *,
    least: Role = Role.VIEWER,
    title: str = "conversation",
    media_type: str = JSON,
) -> Operation[QueryT, NoInput]:
    """Return an operation that changes nothing; name and summary are the handler's."""
    return Operation(
        name=handle.__name__,
        method="GET",
        path=path,
        summary=_summary_of(handle),
        least=least,
        query=query,
        body=NoInput,
        answer=answer,
        handle=handle,
        title=title,
        media_type=media_type,
    )


def write_operation(
    path: str,
    handle: Callable[[Call[NoInput, BodyT]], Value | str],
    body: type[BodyT],
    answer: type[Value],
    *,
    method: str = "POST",
    title: str = "conversation",
    status: HTTPStatus = HTTPStatus.ACCEPTED,
) -> Operation[NoInput, BodyT]:
    """Return an operation that changes something; name and summary are the handler's.

    The usual `status` says that the effect comes later.
    """
    return Operation(
        name=handle.__name__,
        method=method,
        path=path,
        summary=_summary_of(handle),
        least=Role.MEMBER,
        query=NoInput,
        body=body,
        answer=answer,
        handle=handle,
        title=title,
        status=status,
    )


def _summary_of(handle: Callable[..., object]) -> str:
    return (inspect.getdoc(handle) or "").partition("\n")[0].rstrip(".")


@dataclass(frozen=True)
class Caller:
    """Who sends a request; `headers` tell them how many more they may send."""

    principal: Principal
    headers: Mapping[str, str]

    def check_role(self, least: Role) -> None:
        """Raise `ApiError` where their role is not enough."""
        role = self.principal.role
        if not role.allows(least):
            raise not_allowed(
                f"This takes the role “{least}”, and yours is “{role}”. An admin can "
                "change it; an API token may hold less than its account."
            )


@dataclass(frozen=True)
class ApiAccess:
    """Recognizes who calls, and that a browser calls for one of our own pages.

    `public_url` is empty where it is not set: the address that the browser asked counts
    then. `requests` counts those of each person, and of each address from which come
    those of nobody; with None there may be any number. `wrong_tokens` are those that
    let `find_principal` recognize nobody any more.
    """

    find_principal: Callable[[Request], Principal | None]
    public_url: str
    requests: AttemptLimit | None = None
    wrong_tokens: AttemptLimit | None = None

    def admit(self, request: Request) -> Caller:
        """Return who it is, and count it; may take a while. Raises `ApiError`."""
        principal = self.find_principal(request)
        if principal is not None:
            return Caller(principal, self._count(principal.key))
        address, wrong = address_of(request), self.wrong_tokens
        has_shown = "authorization" in request.headers
        if wrong is not None and has_shown and not wrong.has_room(address):
            raise too_often(wrong.wait_s(address))
        self._count(f"address:{address}")
        raise _UNKNOWN_CALLER

    def _count(self, who: str) -> Mapping[str, str]:
        """Count a request. Raises `ApiError` where it is one too many."""
        if self.requests is None:
            return {}
        attempt = self.requests.count(who)
        headers = quota_headers(self.requests, attempt)
        if not attempt.is_allowed:
            raise too_often(attempt.wait_s, headers)
        return headers

    def is_same_origin(self, request: HTTPConnection) -> bool:
        """Tell whether a browser says that one of our own pages has sent it.

        https://fetch.spec.whatwg.org/#origin-header
        """
        site = request.headers.get("sec-fetch-site", "")
        origin = request.headers.get("origin", "")
        if site not in ("", "same-origin") or not (site or origin):
            return False
        return not origin or origin == self._own_origin(request)

    def is_foreign(self, request: HTTPConnection) -> bool:
        """Tell whether the page of somebody else has sent it."""
        origin = request.headers.get("origin", "")
        return bool(origin) and origin != self._own_origin(request)

    def has_own_origin(self, request: HTTPConnection) -> bool:
        """Tell whether a browser says that one of our own pages has opened it."""
        return request.headers.get("origin", "") == self._own_origin(request)

    def _own_origin(self, request: HTTPConnection) -> str:
        url = urlsplit(self.public_url or str(request.base_url))
        scheme = {"ws": "http", "wss": "https"}.get(url.scheme, url.scheme)
        return f"{scheme}://{url.netloc}"


_UNKNOWN_CALLER: Final = ApiError(
    HTTPStatus.UNAUTHORIZED,
    "not-signed-in",
    "Send an API token in the header `Authorization: Bearer`, or sign in.",
    headers={"WWW-Authenticate": "Bearer"},
)
_OTHER_SITE: Final = (
    "A browser has sent this, and not for a page of this service. Programs use an API "
    "token, and no cookie."
)


def add_operation(app: FastAPI, access: ApiAccess, operation: AnyOperation) -> None:
    async def answer(request: Request) -> Response:
        return await _answer(access, operation, request)

    answer.__doc__ = f"{operation.summary}."
    # A plain route: what is checked, and in which order, is all below.
    app.add_route(
        operation.path, answer, methods=[operation.method], include_in_schema=False
    )


async def _answer(
    access: ApiAccess, operation: AnyOperation, request: Request
) -> Response:
    headers: Mapping[str, str] = {}
    try:
        caller = await run_in_threadpool(access.admit, request)
        headers = caller.headers
        caller.check_role(operation.least)
        call = await _read_call(access, operation, request, caller.principal)
        content = await run_in_threadpool(operation.handle, call)
    except Exception as error:
        known = api_error_of(error)
        if known is None:
            raise
        return respond_problem(known, headers)
    return _respond(operation, request, content, headers)


async def _read_call(
    access: ApiAccess,
    operation: AnyOperation,
    request: Request,
    principal: Principal,
) -> Call[Value, Value]:
    """Check and read what was sent. Raises `ApiError`."""
    body: Value = NoInput()
    if operation.is_write:
        if principal.signed_in_by is SignedInBy.SESSION:
            _check_own_page(access, request)
        body = await _read_body(operation, request)
    found = request.path_params.get("id", "")
    if operation.has_id and not _ID.match(found):
        raise not_found(operation.title)
    return Call(
        principal=principal,
        id=found,
        query=_read_query(operation.query, request),
        body=body,
        key=_read_key(request) if operation.is_write else "",
    )


def _check_own_page(access: ApiAccess, request: Request) -> None:
    """Refuse what another site lets a browser send with the cookie of its user."""
    if not access.is_same_origin(request):
        raise not_allowed(_OTHER_SITE)
    if not _is_json(request):
        raise _NO_JSON


_NO_JSON: Final = ApiError(
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "no-json",
    f"Send the body as JSON, with the header `Content-Type: {JSON}`.",
)


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == JSON


async def _read_body(operation: AnyOperation, request: Request) -> Value:
    text = await read_body(request, MAX_BODY_BYTES)
    if text and not _is_json(request):
        raise _NO_JSON
    try:
        content = json.loads(text or b"{}")
    except (ValueError, RecursionError) as error:
        raise invalid_input("body", f"this is not JSON: {error}") from error
    try:
        read: Value = operation.body.model_validate(content)
    except ValidationError as error:
        raise invalid_inputs(error, "body") from error
    return read


def _read_query(kind: type[Value], request: Request) -> Value:
    given: dict[str, object] = {}
    for name, field in kind.model_fields.items():
        values = request.query_params.getlist(name)
        if values:
            is_list = get_origin(field.annotation) is tuple
            given[name] = values if is_list else values[-1]
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise invalid_inputs(error) from error


def _read_key(request: Request) -> str:
    key = request.headers.get(IDEMPOTENCY_HEADER, "")
    if key and not _KEY.match(key):
        raise invalid_input(
            IDEMPOTENCY_HEADER, "it has up to 64 characters of ASCII without blanks"
        )
    return key


def _respond(
    operation: AnyOperation,
    request: Request,
    content: Value | str,
    quota: Mapping[str, str],
) -> Response:
    headers = {**_HEADERS, **quota}
    status = int(operation.status)
    if isinstance(content, str):
        kind = f"{operation.media_type}; charset=utf-8"
        return Response(content, status, headers, kind)
    if isinstance(content, Page) and content.next:
        headers["Link"] = _link(request, content.next)
    return Response(content.model_dump_json(), status, headers, JSON)


_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def _link(request: Request, cursor: str) -> str:
    query: Mapping[str, str] = dict(request.query_params)
    # Relative to this address, whatever stands before it outside.
    return link_to_next(request.url.path.rpartition("/")[2], query, cursor)
