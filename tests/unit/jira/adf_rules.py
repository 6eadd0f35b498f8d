"""What may be in what in a document of Jira's, for where its schema isn't at hand."""

from collections.abc import Iterator
from typing import Any

LISTS = {"bulletList", "orderedList", "taskList"}
NARROW = {"paragraph", "codeBlock", *LISTS}
INSIDE_EXPAND = {*NARROW, "heading", "rule", "panel", "blockquote"}
CHILDREN = {
    "doc": {*INSIDE_EXPAND, "table", "expand"},
    "expand": {*INSIDE_EXPAND, "table", "nestedExpand"},
    "nestedExpand": INSIDE_EXPAND,
    "panel": {*NARROW, "heading", "rule"},
    "blockquote": NARROW - {"taskList"},
    "listItem": NARROW,
    "bulletList": {"listItem"},
    "orderedList": {"listItem"},
    "taskList": {"taskItem", "taskList"},
    "table": {"tableRow"},
    "tableRow": {"tableCell", "tableHeader"},
    "tableCell": {"paragraph"},
    "tableHeader": {"paragraph"},
    "codeBlock": {"text"},
}
INLINES = {"text", "hardBreak", "mention"}
HOLD_INLINES = {"paragraph", "heading", "taskItem"}
MAY_BE_EMPTY = {*HOLD_INLINES, "codeBlock", "text", "hardBreak", "mention", "rule"}


def nodes_of(node: Any) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("content", []):
        yield from nodes_of(child)


def broken_rules(document: Any) -> Iterator[str]:
    for node in nodes_of(document):
        kind = node["type"]
        allowed = INLINES if kind in HOLD_INLINES else CHILDREN.get(kind, set())
        children = [child["type"] for child in node.get("content", [])]
        yield from (f"{child} in {kind}" for child in children if child not in allowed)
        if not children and kind not in MAY_BE_EMPTY:
            yield f"empty {kind}"
        if kind == "taskList" and children[:1] != ["taskItem"]:
            yield "a list of tasks that begins with none"
        if kind == "text":
            yield from _broken_in_text(node)


def _broken_in_text(node: dict[str, Any]) -> Iterator[str]:
    marks = [mark["type"] for mark in node.get("marks", [])]
    if not node["text"]:
        yield "empty text"
    if "code" in marks and set(marks) - {"code", "link"}:
        yield f"code with {marks}"
    if len(set(marks)) != len(marks):
        yield f"twice the same in {marks}"
