"""Errors of the API, as problem documents.

https://www.rfc-editor.org/rfc/rfc9457
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, cast

from fastapi import FastAPI, Request, Response
from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException

from patchwright.core.types.base import Value
from patchwright.core.types.errors import PatchwrightError, WrongMomentError
from patchwright.core.webhook import InboxUnavailableError
from patchwright.workers.web.body import BodyTooLargeError

MEDIA_TYPE: Final = "application/problem+json"
# Where the API is; a service's webhooks, which are below it, answer in their own way.
API_PREFIX: Final = "/api/"
_WEBHOOKS: Final = "/api/integration/"
_TYPE: Final = "urn:patchwright:problem:"


class FieldProblem(Value):
    """One thing that is wrong with what was sent."""

    where: str = Field(description="Name of the parameter, or path in the body.")
    problem: str = Field(description="What is wrong with it, and what it may be.")


class Problem(Value):
    """What was not done, and why."""

    type: str = Field(description="URN of this kind of problem.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong here, and how to fix it.")
    code: str = Field(description="Short code of the kind, for programs.")
    errors: tuple[FieldProblem, ...] = Field(
        (), description="Each input that is wrong."
    )


class ApiError(Exception):
    """A request that gets a problem document for an answer."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(detail)
        self.headers = headers
        self.problem = Problem(
            type=f"{_TYPE}{code}",
            title=status.phrase,
            status=status.value,
            detail=detail,
            code=code,
            errors=tuple(errors),
        )


def not_found(what: str) -> ApiError:
    """Return the same error for what is not there and for what is hidden."""
    detail = f"There is no {what} with this id, or you cannot see it."
    return ApiError(HTTPStatus.NOT_FOUND, "not-found", detail)


def not_allowed(detail: str) -> ApiError:
    return ApiError(HTTPStatus.FORBIDDEN, "not-allowed", detail)


def too_often(
    wait_s: int, headers: Mapping[str, str] = MappingProxyType({})
) -> ApiError:
    """Return the error for who has to wait; `headers` say what is allowed."""
    return ApiError(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too-many-requests",
        f"These were too many requests. Wait {wait_s} s, and send it again.",
        headers={**headers, "Retry-After": str(wait_s)},
    )


def invalid_input(where: str, problem: str) -> ApiError:
    return _invalid([FieldProblem(where=where, problem=problem)])


def invalid_inputs(error: ValidationError, within: str = "") -> ApiError:
    """Return what pydantic found wrong; `within` says in which part of the request."""
    return _invalid(
        [
            FieldProblem(
                where=".".join([*filter(None, [within]), *map(str, one["loc"])]),
                problem=one["msg"],
            )
            for one in error.errors(include_url=False, include_input=False)
        ]
    )


def _invalid(errors: Sequence[FieldProblem]) -> ApiError:
    told = "; ".join(f"{one.where}: {one.problem}" for one in errors)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return ApiError(status, "invalid-input", told, errors=errors)


def respond_problem(
    error: ApiError, more: Mapping[str, str] = MappingProxyType({})
) -> Response:
    headers = {"Cache-Control": "no-store", **more, **error.headers}
    text = error.problem.model_dump_json()
    return Response(text, error.problem.status, headers, MEDIA_TYPE)


_RETRY: Final = {"Retry-After": "5"}


def api_error_of(error: Exception) -> ApiError | None:
    """Return how the API tells of an error that has a meaning to its callers."""
    match error:
        case ApiError():
            return error
        case BodyTooLargeError():
            detail = f"{error}. Send less text."
            return ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                error.reason,
                detail,
                headers={"Connection": "close"},
            )
        case WrongMomentError():
            return ApiError(HTTPStatus.CONFLICT, error.reason, _sentence(error))
        case InboxUnavailableError():
            detail = "The request could not be stored. Send it again."
            status = HTTPStatus.SERVICE_UNAVAILABLE
            return ApiError(status, error.reason, detail, headers=_RETRY)
        case _:
            return None


def _sentence(error: PatchwrightError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


_Tell = Callable[[Request, Exception], Awaitable[Response]]


def add_api_errors(app: FastAPI) -> None:
    """Answer with a problem where no operation has this address or this method.

    Other addresses keep the answer that they have.
    """
    other = cast("_Tell", app.exception_handlers[HTTPException])

    @app.exception_handler(HTTPException)
    async def tell(request: Request, error: HTTPException) -> Response:
        path = request.url.path
        is_ours = path.startswith(API_PREFIX) and not path.startswith(_WEBHOOKS)
        if not is_ours:
            return await other(request, error)
        status = HTTPStatus(error.status_code)
        code = status.phrase.lower().replace(" ", "-")
        detail = "The API has no such operation; /docs shows all that it has."
        headers = error.headers or {}
        return respond_problem(ApiError(status, code, detail, headers=headers))
