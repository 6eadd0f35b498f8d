"""Run Python as its prompt does, where there is no IPython."""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
import types


class PlainPython:
    """Runs code in one module; the value of a last expression is shown."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._count = 0

    def run(self, code: str) -> bool:
        """Print whatever comes of it; return whether it failed."""
        self._count += 1
        name = f"<cell {self._count}>"
        # Where `traceback` looks for the lines of the code.
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            parts = _compile(code, name)
        except (SyntaxError, ValueError) as error:
            traceback.print_exception(type(error), error, None)
            return True
        try:
            for part in parts:
                exec(part, self._module.__dict__)  # noqa: S102 - what it is for
        except SystemExit as leaving:
            print(f"SystemExit: {leaving.code}", file=sys.stderr)  # noqa: T201 - output
            return leaving.code not in (None, 0)
        except BaseException as error:  # noqa: BLE001 - also KeyboardInterrupt: the variables must last
            _print_traceback(error)
            return True
        return False


def _compile(code: str, name: str) -> list[types.CodeType]:
    tree = ast.parse(code, name)
    last = tree.body[-1:]
    if not last or not isinstance(last[0], ast.Expr):
        return [compile(tree, name, "exec", dont_inherit=True)]
    del tree.body[-1]
    return [
        compile(tree, name, "exec", dont_inherit=True),
        # As at the prompt: the value is printed unless it is None, and becomes `_`.
        compile(ast.Interactive(last), name, "single", dont_inherit=True),
    ]


def _print_traceback(error: BaseException) -> None:
    frames = error.__traceback__
    # The first frame is our own.
    traceback.print_exception(type(error), error, frames and frames.tb_next)
