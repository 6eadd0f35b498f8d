"""The functions of expressions.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#functions
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from tests.runner.expressions.nodes import ExpressionError
from tests.runner.expressions.values import Value, are_equal, to_json, to_text

Function = Callable[[list[Value]], Value]

_PLACE: Final = re.compile(r"\{\{|\}\}|\{(\d+)\}|[{}]")


def _contains(arguments: list[Value]) -> Value:
    search, item = arguments
    if isinstance(search, list):
        return any(are_equal(one, item) for one in search)
    return _folded(item) in _folded(search)


def _starts_with(arguments: list[Value]) -> Value:
    text, start = arguments
    return _folded(text).startswith(_folded(start))


def _ends_with(arguments: list[Value]) -> Value:
    text, end = arguments
    return _folded(text).endswith(_folded(end))


def _format(arguments: list[Value]) -> Value:
    template, *values = arguments

    def fill(place: re.Match[str]) -> str:
        if place[1] is not None and int(place[1]) < len(values):
            return to_text(values[int(place[1])])
        if place[0] in {"{{", "}}"}:
            return place[0][0]
        raise ExpressionError(f"format: {template!r} has no value for {place[0]!r}")

    return _PLACE.sub(fill, to_text(template))


def _join(arguments: list[Value]) -> Value:
    items, *separator = arguments
    between = to_text(separator[0]) if separator else ","
    if not isinstance(items, list):
        return to_text(items)
    return between.join(to_text(one) for one in items)


def _to_json(arguments: list[Value]) -> Value:
    return to_json(arguments[0])


def _from_json(arguments: list[Value]) -> Value:
    value: Value = json.loads(to_text(arguments[0]))
    return value


def _folded(value: Value) -> str:
    return "" if isinstance(value, list | dict) else to_text(value).lower()


# By name in lower case: how many values it takes at least and at most, and what it is.
FUNCTIONS: Final[Mapping[str, tuple[int, int, Function]]] = {
    "contains": (2, 2, _contains),
    "startswith": (2, 2, _starts_with),
    "endswith": (2, 2, _ends_with),
    "format": (1, 255, _format),
    "join": (1, 2, _join),
    "tojson": (1, 1, _to_json),
    "fromjson": (1, 1, _from_json),
}
