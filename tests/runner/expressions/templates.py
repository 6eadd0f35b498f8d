"""Text with expressions in it, and conditions."""

import re
from collections.abc import Callable
from typing import Final

from tests.runner.expressions.evaluate import STATUS_FUNCTIONS, Scene, evaluate
from tests.runner.expressions.nodes import Call, ExpressionError, Node, path_of, walk
from tests.runner.expressions.parse import parse
from tests.runner.expressions.values import is_truthy, to_text

_OPEN: Final = "${{"
# A quoted text may hold the two braces that would end the expression.
_PLACE: Final = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|(?!\}\}).)*)\}\}", re.DOTALL)


def fill(text: str, scene: Scene) -> str:
    """Return the text with each expression's value in its place."""
    return _replace(text, lambda node: to_text(evaluate(node, scene)))


def expressions_in(text: str) -> list[Node]:
    return [parse(place[1]) for place in _PLACE.finditer(text)]


def paths_in(node: Node) -> set[str]:
    """Return what the expression reads, longest paths and the contexts they are in."""
    return {path for part in walk(node) if (path := path_of(part))}


def is_met(condition: str | None, scene: Scene) -> bool:
    """Judge an `if:`, which means `success()` unless it asks for the status itself.

    https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
    """
    node = parse(_unwrapped(condition or "success()"))
    if not _asks_status(node):
        node = parse(f"success() && ({_unwrapped(condition or '')})")
    return is_truthy(evaluate(node, scene))


def _asks_status(node: Node) -> bool:
    calls = (part for part in walk(node) if isinstance(part, Call))
    return any(call.name.lower() in STATUS_FUNCTIONS for call in calls)


def _unwrapped(condition: str) -> str:
    """Return the bare expression; half an expression in braces would always be true."""
    whole = _PLACE.fullmatch(condition.strip())
    if whole:
        return whole[1]
    if _OPEN in condition:
        raise ExpressionError(f"{condition!r} is a text, and so is always true")
    return condition


def _replace(text: str, value: Callable[[Node], str]) -> str:
    filled = _PLACE.sub(lambda place: value(parse(place[1])), text)
    if _OPEN in _PLACE.sub("", text):
        raise ExpressionError(f"{text!r}: an expression is not closed")
    return filled
