"""The API's own pages: the OpenAPI document, and a reference for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from markupsafe import Markup, escape

from patchwright.core.types.base import Value
from patchwright.workers.api.document import PROBLEMS, openapi_document
from patchwright.workers.api.operations import JSON, AnyOperation, ApiAccess
from patchwright.workers.web.frame import HEADERS, Site

DOCUMENT_PATH: Final = "/openapi.json"
REFERENCE_PATH: Final = "/docs"
_Tree = Mapping[str, Any]


class FieldRow(Value):
    """A parameter or a field; `type` is in words, `schema_name` links to one below."""

    name: str
    type: str
    schema_name: str
    is_required: bool
    about: str


class OperationEntry(Value):
    """One operation, as the page shows it."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[FieldRow, ...]
    body: str
    status: str
    answer: str
    answer_type: str


class ProblemRow(Value):
    """A status other than success, and what it means."""

    status: int
    about: str


class SchemaEntry(Value):
    name: str
    about: str
    fields: tuple[FieldRow, ...]


class OperationGroup(Value):
    """The operations with one noun."""

    title: str
    operations: tuple[OperationEntry, ...]


class ReferenceView(Value):
    """All that the page shows."""

    about: str
    groups: tuple[OperationGroup, ...]
    problems: tuple[ProblemRow, ...]
    schemas: tuple[SchemaEntry, ...]


@dataclass(frozen=True)
class ApiReference:
    """Made when somebody asks for it the first time: nobody may ever do."""

    operations: Sequence[AnyOperation]
    access: ApiAccess
    site: Site

    @cached_property
    def document(self) -> _Tree:
        return openapi_document(self.operations)

    @cached_property
    def document_text(self) -> str:
        return document_text(self.document)

    @cached_property
    def view(self) -> ReferenceView:
        return reference_view(self.document)


def document_text(document: _Tree) -> str:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"


def add_reference(app: FastAPI, reference: ApiReference) -> None:
    # Not async: to make them takes a while, the first time.
    @app.get(DOCUMENT_PATH, include_in_schema=False)
    def openapi() -> Response:
        """Return the OpenAPI document of the API."""
        headers = {**HEADERS, "Cache-Control": "no-cache"}
        return Response(reference.document_text, 200, headers, JSON)

    @app.get(REFERENCE_PATH, include_in_schema=False)
    def docs(request: Request) -> Response:
        """Show the reference of the API."""
        principal = reference.access.find_principal(request)
        return reference.site.show(
            "api_reference.html",
            principal,
            view=reference.view,
            text=with_code,
            document_path=DOCUMENT_PATH,
        )


def reference_view(document: _Tree) -> ReferenceView:
    """Return what the page shows of an OpenAPI document of ours."""
    schemas: _Tree = document["components"]["schemas"]
    groups: dict[str, list[OperationEntry]] = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            entry = _entry(path, method, one)
            groups.setdefault(one["tags"][0], []).append(entry)
    return ReferenceView(
        about=document["info"]["description"],
        groups=tuple(
            OperationGroup(title=name.capitalize(), operations=tuple(found))
            for name, found in sorted(groups.items())
        ),
        problems=tuple(
            ProblemRow(status=status, about=about) for status, about in PROBLEMS.items()
        ),
        schemas=tuple(_schema(name, schemas[name]) for name in schemas),
    )


def with_code(text: str) -> Markup:
    """Return a text of ours as HTML; what stands between backticks is code."""
    parts = (escape(one) for one in text.split("`"))
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if number % 2 else one
        for number, one in enumerate(parts)
    )


def _entry(path: str, method: str, one: _Tree) -> OperationEntry:
    (status, answer), *_ = one["responses"].items()
    ((media_type, content),) = answer["content"].items()
    body = one.get("requestBody", {}).get("content", {}).get(JSON, {})
    return OperationEntry(
        name=one["operationId"],
        method=method.upper(),
        path=path,
        summary=one["summary"],
        about=one["description"],
        parameters=tuple(_parameters(one["parameters"])),
        body=_name_of(body.get("schema", {})),
        status=status,
        answer=_name_of(content["schema"]),
        answer_type=media_type,
    )


def _parameters(parameters: Sequence[_Tree]) -> Iterator[FieldRow]:
    for one in parameters:
        row = _row(one["name"], one["schema"], one["description"], one["required"])
        yield row.replace(type=f"{row.type}, in the {one['in']}")


def _schema(name: str, schema: _Tree) -> SchemaEntry:
    required = schema.get("required", ())
    return SchemaEntry(
        name=name,
        about=schema.get("description", ""),
        fields=tuple(
            _row(field, one, one.get("description", ""), field in required)
            for field, one in schema.get("properties", {}).items()
        ),
    )


def _row(name: str, schema: _Tree, about: str, is_required: bool) -> FieldRow:  # noqa: FBT001 - a fact of the field
    return FieldRow(
        name=name,
        type=_type_words(schema),
        schema_name=_linked(schema),
        is_required=is_required,
        about=about,
    )


def _linked(schema: _Tree) -> str:
    """Return the name of the schema that a field, or each of its items, has."""
    inner = (schema, schema.get("items", {}), *schema.get("anyOf", ()))
    return next((name for one in inner if (name := _name_of(one))), "")


def _name_of(schema: _Tree) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


# No bound that matters to anybody.
_LARGEST: Final = 2**31 - 1
_BOUNDS: Final = {"minimum": "from", "maximum": "to", "default": "default"}


def _type_words(schema: _Tree) -> str:
    if "anyOf" in schema:
        return " or ".join(_type_words(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return _name_of(schema)
    if schema.get("type") == "array":
        return f"list of {_type_words(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"“{one}”" for one in schema["enum"])
    kind = str(schema.get("format") or schema.get("type") or "anything")
    kind = {"date-time": "time"}.get(kind, kind)
    bounds = [
        f"{words} {schema[key]}"
        for key, words in _BOUNDS.items()
        if schema.get(key) not in (None, "", [], False, _LARGEST)
    ]
    return ", ".join([kind, *bounds])
