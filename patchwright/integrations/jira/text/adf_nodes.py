"""Read the nodes of an ADF document, whatever it is that somebody sent.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
"""

from collections.abc import Iterator, Mapping

Node = Mapping[str, object]


def kind_of(node: Node) -> str:
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


def children_of(node: Node) -> list[Node]:
    return _nodes(node.get("content"))


def marks_of(node: Node) -> list[Node]:
    return _nodes(node.get("marks"))


def attribute(node: Node, name: str) -> str:
    """Return an attribute as text; it is empty where it isn't there."""
    attributes = node.get("attrs")
    value = attributes.get(name) if isinstance(attributes, Mapping) else None
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def text_of(node: Node) -> str:
    text = node.get("text")
    return text if isinstance(text, str) else ""


def words_below(node: Node) -> str:
    """Return the texts of a node, however deep they are."""
    return "".join(_texts(node))


def _texts(node: Node) -> Iterator[str]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield text_of(here)
        waiting += reversed(children_of(here))


def _nodes(value: object) -> list[Node]:
    nodes = value if isinstance(value, list) else []
    return [node for node in nodes if isinstance(node, Mapping)]
