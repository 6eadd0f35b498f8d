"""Find out what the names and texts in Python code stand for."""

import ast
from collections.abc import Mapping
from typing import Final

IMPORTS: Final = frozenset({"__import__", "importlib.import_module"})
UNKNOWN_EXPRESSION: Final = "?"

Names = Mapping[str, str]


def imported_names(tree: ast.Module) -> Names:
    """Return the full name of each name that the code imports."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                names[one.asname or top] = one.name if one.asname else top
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                names[one.asname or one.name] = f"{node.module}.{one.name}"
    return names


def called_name(node: ast.expr, names: Names) -> str:
    """Return the dotted name of what is called; other expressions are `SOMETHING`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(_first_part(node, names))
    return ".".join(reversed(parts))


def literal_text(node: ast.AST | None) -> str | None:
    """Return a text that is written out, also in pieces, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal_text(node.left), literal_text(node.right)
        return None if left is None or right is None else left + right
    return None


def _first_part(node: ast.expr, names: Names) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if not isinstance(node, ast.Call):
        return UNKNOWN_EXPRESSION
    called = called_name(node.func, names)
    if called in IMPORTS and node.args:
        return literal_text(node.args[0]) or UNKNOWN_EXPRESSION
    if called == "getattr" and len(node.args) > 1:
        return f"{called_name(node.args[0], names)}.{literal_text(node.args[1]) or UNKNOWN_EXPRESSION}"
    return UNKNOWN_EXPRESSION
