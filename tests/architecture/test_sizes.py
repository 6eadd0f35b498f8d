"""Files hold one whole idea each, and functions can be read in one go."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.figures import product
from tests.architecture.limits import (
    LIMITS,
    LONG_FUNCTIONS,
    LONG_MODULES,
    MAX_FUNCTION_LINES,
    MAX_MODULE_LINES,
    MENTION_LIMITS,
    Limit,
)
from tests.architecture.mention import run_mention
from tests.architecture.tree import Module, modules


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.title)
def test_each_figure_stays_within_its_limit(limit: Limit) -> None:
    assert limit.least <= limit.measure(product()) <= limit.most, limit


def test_one_mention_runs_through_few_files(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    executed = run_mention(tmp_path_factory.mktemp("mention"))
    until_model, in_all = [most for _, most in MENTION_LIMITS.values()]
    assert 0 < len(executed.before_model) <= until_model
    assert len(executed.files) <= in_all


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


def _functions(
    module: Module,
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1
