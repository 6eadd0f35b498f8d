"""Empty the functions that a change adds to a Python file, and leave all else."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Without what these do an object cannot be used at all.
_KEPT: Final = frozenset(
    {
        *("__init__", "__new__", "__post_init__", "__init_subclass__"),
        *("__set_name__", "__class_getitem__", "__getattr__"),
    }
)
# Returns None like an empty function, and makes it a generator.
_YIELDS: Final = b"(yield) if 0 else None"


def hollow(before: str | None, after: str) -> str | None:
    """Return `after` with each new function returning None at once.

    A function with other parameters than before counts as new, since its callers need
    the new ones. Signatures, decorators and docstrings stay. Returns None if there is
    nothing to empty, or if the text is no Python that can be read.
    """
    try:
        known = _signatures(ast.parse(before or ""))
        tree = ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return None
    spans = [
        span
        for name, function in _functions(tree)
        if known.get(name) != _signature(function)
        and function.name not in _KEPT
        and (span := _body_span(function))
    ]
    if not spans:
        return None
    lines = after.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return _replaced(after.encode(), starts, spans).decode()


_Span = tuple[tuple[int, int], tuple[int, int], bytes]


def _replaced(text: bytes, starts: list[int], spans: list[_Span]) -> bytes:
    """Put the new bodies in place of the old; the last first, so that places stay."""
    for (line, column), (end_line, end_column), body in reversed(spans):
        start = starts[line - 1] + column
        end = starts[end_line - 1] + end_column
        text = text[:start] + body + text[end:]
    return text


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """Yield functions and methods with their full names, but none inside another."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{prefix}{node.name}", node
            case ast.ClassDef():
                yield from _functions(node, f"{prefix}{node.name}.")
            case ast.If() | ast.Try() | ast.With():
                yield from _functions(node, prefix)
            case _:
                pass


def _signatures(tree: ast.AST) -> Mapping[str, str]:
    return {name: _signature(function) for name, function in _functions(tree)}


def _signature(function: _Function) -> str:
    """Return the names of the parameters, without types and defaults."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    rest = (arguments.vararg, arguments.kwarg)
    return ",".join(one.arg for one in (*every, *rest) if one is not None)


def _body_span(function: _Function) -> _Span | None:
    """Return where the statements after the docstring begin and end, and a new body."""
    body = function.body
    if ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    if not body:
        return None
    first, last = body[0], body[-1]
    line, column = first.lineno, first.col_offset
    for decorator in getattr(first, "decorator_list", ()):
        line = min(line, decorator.lineno)
    end = (last.end_lineno or last.lineno, last.end_col_offset or 0)
    new = _YIELDS if any(map(_yields, body)) else b"return None"
    return (line, column), end, new


def _yields(node: ast.AST) -> bool:
    """Tell whether a statement makes its function a generator."""
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    return any(map(_yields, ast.iter_child_nodes(node)))
