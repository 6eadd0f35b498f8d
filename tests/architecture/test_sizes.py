"""Files and functions hold one whole idea each, and can be read in one go."""

import ast
from collections.abc import Iterator
from statistics import median

from tests.architecture.tree import Module, modules

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40
MAX_MEDIAN_LINES = 180

# What may be longer, and why.
LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS = {
    "tests/unit/agent/scene.py:playing": "each part of the scene is a parameter",
    "patchwright/workers/cli/run_commands.py:_resolve": "each option is a parameter",
}


def test_no_module_is_too_long() -> None:
    long = {m.name: m.lines for m in modules() if m.lines > MAX_MODULE_LINES}
    assert long.keys() == LONG_MODULES.keys(), long


def test_no_function_is_too_long() -> None:
    long = {
        f"{module.name}:{function.name}": lines
        for module in modules()
        for function, lines in _functions(module)
        if lines > MAX_FUNCTION_LINES
    }
    assert long.keys() == LONG_FUNCTIONS.keys(), long


def test_the_usual_module_is_short() -> None:
    sizes = [m.lines for m in modules("patchwright/") if not m.is_package_mark]
    assert median(sizes) <= MAX_MEDIAN_LINES


def _functions(
    module: Module,
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1
