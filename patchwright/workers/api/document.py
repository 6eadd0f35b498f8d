"""The OpenAPI document of the API, made from its operations when it is asked for.

https://spec.openapis.org/oas/v3.1.1.html
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from patchwright.core.types.base import Value
from patchwright.workers.api import problems
from patchwright.workers.api.cursors import Page
from patchwright.workers.api.operations import (
    IDEMPOTENCY_HEADER,
    JSON,
    AnyOperation,
    NoInput,
)
from patchwright.workers.api.problems import Problem
from patchwright.workers.api.schemas import EventView
from patchwright.workers.api.streams import EVENT_STREAM

# It changes when the API does, and not with each release.
_API_VERSION: Final = "1.0"
_COOKIE: Final = "patchwright_session"
_Schema = dict[str, Any]
_REF: Final = "#/components/schemas/{model}"
_ABOUT: Final = """\
See what runs, answer it, and stop it. Programs send an API token as `Authorization: \
Bearer TOKEN`; a browser that is signed in sends its cookie, and for everything but \
reading it must be on a page of this service.

What you cannot see is 404, as if it did not exist. Every error is a problem \
document (RFC 9457). Lists come in pages: `next` is the cursor of the page after it, \
which the header `Link` names too. A POST with the header `Idempotency-Key` is done \
once, however often it is sent.

Each person may send `server.api_requests_per_minute` requests. The header `RateLimit` \
says how many are left. With none the answer is 429, and `Retry-After` says when to \
send more.

The WebSocket `/sockets/events/{id}` sends the same events as the stream, each as one \
JSON text; `?after=` is the id of the last event that you have."""
PROBLEMS: Final[Mapping[int, str]] = {
    401: "Nobody is signed in.",
    403: "Your role or your permission is not enough.",
    404: "It does not exist, or you cannot see it.",
    409: "It makes no sense for the run now.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Something that was sent is wrong; `errors` says what.",
    429: "You have sent too many requests. `Retry-After` says when to send more.",
    503: "It could not be stored, or too many others read. Try again.",
}
_ANY: Final = (401, 403, 422, 429)
_WRITING: Final = (409, 413, 415, 503)


def openapi_document(operations: Sequence[AnyOperation]) -> _Schema:
    """Return the document of exactly these operations, and of the stream of events."""
    schemas = _schemas(operations)
    paths: dict[str, _Schema] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    paths.setdefault(EVENT_STREAM, {})["get"] = _stream()
    queries = {one.query.__name__ for one in operations}
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Patchwright",
            "version": _API_VERSION,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "`server.public_url`"}],
        "security": [{"token": []}, {"session": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {
                name: schema
                for name, schema in sorted(schemas.items())
                if name not in queries
            },
            "headers": _HEADERS,
            "responses": _problem_answers(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": _COOKIE},
            },
        },
    }


def _schemas(operations: Iterable[AnyOperation]) -> dict[str, _Schema]:
    """Return all schemas by name, those of the query parameters too."""
    wanted: dict[tuple[type[BaseModel], Literal["validation", "serialization"]], None]
    wanted = {(Problem, "serialization"): None, (EventView, "serialization"): None}
    for one in operations:
        wanted[one.query, "validation"] = None
        if one.body is not NoInput:
            wanted[one.body, "validation"] = None
        if one.answer is not None:
            wanted[one.answer, "serialization"] = None
    _, written = models_json_schema(list(wanted), ref_template=_REF)
    schemas: dict[str, _Schema] = written["$defs"]
    return {name: _without_titles(schema) for name, schema in schemas.items()}


def _without_titles(schema: _Schema) -> _Schema:
    """Leave out the titles that only repeat the names."""
    properties: dict[str, _Schema] = schema.get("properties", {})
    plain = {
        name: {key: value for key, value in one.items() if key != "title"}
        for name, one in properties.items()
    }
    rest = {key: value for key, value in schema.items() if key != "title"}
    return {**rest, "properties": plain} if plain else rest


def _operation(one: AnyOperation, schemas: Mapping[str, _Schema]) -> _Schema:
    parameters = [*_path_parameters(one), *_query_parameters(one.query, schemas)]
    if one.is_write:
        parameters.append(_KEY_PARAMETER)
    described: _Schema = {
        "operationId": one.name,
        "summary": one.summary,
        "description": f"Takes the role `{one.least}`.",
        "tags": [one.path.split("/")[2]],
        "parameters": parameters,
        "responses": {str(int(one.status)): _answer(one), **_problems(one)},
    }
    if one.body is not NoInput:
        described["requestBody"] = {
            "required": bool(schemas[one.body.__name__].get("required")),
            "content": {JSON: {"schema": _ref(one.body)}},
        }
    return described


def _path_parameters(one: AnyOperation) -> Iterator[_Schema]:
    if one.has_id:
        yield _id_parameter(one.title)


def _id_parameter(title: str) -> _Schema:
    return {
        "name": "id",
        "in": "path",
        "required": True,
        "description": f"Id of the {title}.",
        "schema": {"type": "string", "pattern": "^[0-9A-Za-z-]{1,64}$"},
    }


def _query_parameters(
    query: type[Value], schemas: Mapping[str, _Schema]
) -> Iterator[_Schema]:
    if query is NoInput:
        return
    properties: Mapping[str, _Schema] = schemas[query.__name__]["properties"]
    for name, schema in properties.items():
        described = {key: value for key, value in schema.items() if key != "title"}
        about = described.pop("description")
        if described.get("default", "") is None:
            del described["default"]
        # In an address nothing is null.
        kinds = [one for one in described.pop("anyOf", ()) if one != {"type": "null"}]
        yield {
            "name": name,
            "in": "query",
            "required": False,
            "description": about,
            "schema": {**described, **(kinds[0] if kinds else {})},
        }


_KEY_PARAMETER: Final[_Schema] = {
    "name": IDEMPOTENCY_HEADER,
    "in": "header",
    "required": False,
    "description": "A word of yours for this request: sent again, it is done once.",
    "schema": {"type": "string", "pattern": r"^[\x21-\x7e]{1,64}$"},
}


def _answer(one: AnyOperation) -> _Schema:
    described: _Schema = {"description": HTTPStatus(one.status).phrase}
    schema = {"type": "string"} if one.answer is None else _ref(one.answer)
    described["content"] = {one.media_type: {"schema": schema}}
    has_pages = one.answer is not None and issubclass(one.answer, Page)
    described["headers"] = _headers(*(("Link",) if has_pages else ()), *_QUOTA)
    return described


_QUOTA: Final = ("RateLimit", "RateLimit-Policy")
_SENT_WITH: Final = {429: ("Retry-After",), 503: ("Retry-After",)}
_HEADERS: Final[Mapping[str, _Schema]] = {
    name: {"description": about, "schema": {"type": "string"}}
    for name, about in {
        "Link": "The next page, with `rel=next`; not on the last one.",
        "RateLimit": "How many more requests you may send now (`r`), and in how many "
        "seconds you may send another one again (`t`); not where there is no limit.",
        "RateLimit-Policy": "How many requests you may send (`q`) in how many seconds "
        "(`w`).",
        "Retry-After": "In how many seconds to send it again.",
    }.items()
}


def _headers(*names: str) -> _Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _problems(one: AnyOperation) -> dict[str, _Schema]:
    codes = {
        *_ANY,
        *(_WRITING if one.is_write else ()),
        *((404,) if one.has_id else ()),
    }
    return _problem_references(codes)


def _problem_references(codes: Iterable[int]) -> dict[str, _Schema]:
    return {
        str(code): {"$ref": f"#/components/responses/{_response_name(code)}"}
        for code in sorted(codes)
    }


def _problem_answers() -> dict[str, _Schema]:
    return {
        _response_name(code): {
            "description": about,
            "content": {problems.MEDIA_TYPE: {"schema": _ref(Problem)}},
            "headers": _headers(*_SENT_WITH.get(code, ()), *_QUOTA),
        }
        for code, about in PROBLEMS.items()
    }


def _response_name(code: int) -> str:
    return HTTPStatus(code).phrase.replace(" ", "")


def _ref(model: type[BaseModel]) -> _Schema:
    return {"$ref": _REF.format(model=model.__name__)}


def _stream() -> _Schema:
    number = {"type": "integer", "minimum": 0, "default": 0}
    return {
        "operationId": "stream_events",
        "summary": "Send the events of a conversation, and then what comes",
        "description": "Takes the role `viewer`. Server-sent events: each `event` has "
        "an event as JSON, and its id; `end` says that the run is over. A stream ends "
        "after a minute: ask again, with the last id that you have.",
        "tags": ["conversations"],
        "parameters": [
            _id_parameter("conversation"),
            {
                "name": "after",
                "in": "query",
                "required": False,
                "description": "The id of the last event that you have.",
                "schema": number,
            },
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The same, as browsers send it; it goes before `after`.",
                "schema": {"type": "string"},
            },
        ],
        "responses": {
            "200": {
                "description": "The stream; the data of an `event` is an EventView.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
                "headers": _headers(*_QUOTA),
            },
            **_problem_references((401, 403, 404, 429, 503)),
        },
    }
