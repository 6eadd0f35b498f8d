"""Run pieces of Python, one after the other, with variables that last.

The action server puts the code into one file and writes a word to another to have it
run; the word comes back on a third, so that nothing printed can pass for an end.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import signal
import sys
import traceback
import types
from typing import Callable


class PlainPython:
    """Runs code in one module; the value of a last expression is shown."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._count = 0

    def run(self, code: str) -> bool:
        """Print the result; return whether it failed."""
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


# As `patchwright.sandbox.action_server.python_session` has laid them.
CODE_FD = 3
GO_FD = 4
DONE_FD = 5

# Returns whether the code failed; whatever it prints is its output.
Run = Callable[[str], bool]


def main() -> None:
    for fd in (CODE_FD, GO_FD, DONE_FD):
        os.set_inheritable(fd, False)
    # Not ignored: that would be inherited by what a thread may start between two runs.
    signal.signal(signal.SIGINT, _ignore_interrupt)
    name, run = _choose()
    _hide_own_modules()
    _write_word(f"ready {name}")
    own_pid = os.getpid()
    with os.fdopen(GO_FD, encoding="ascii") as words:
        for word in words:
            failed = _run_interruptible(run, _read_code())
            if os.getpid() != own_pid:
                # The code has forked; the copy ends here, or there would be two of us.
                os._exit(0)
            _write_word(f"{word.strip()} {int(failed)}")


def _choose() -> tuple[str, Run]:
    version = sys.version.split()[0]
    try:
        shell = importlib.import_module("IPython.core.interactiveshell")
    except ImportError:
        main_module = types.ModuleType("__main__")
        sys.modules["__main__"] = main_module
        text = f"This is plain Python {version}; the image has no IPython."
        return text, PlainPython(main_module).run
    return f"This is IPython on Python {version}.", _start_ipython(shell)


def _start_ipython(module: types.ModuleType) -> Run:
    """Return IPython without its files: it would keep a history in the home folder.

    https://ipython.readthedocs.io/en/stable/api/generated/IPython.core.interactiveshell.html
    """
    traitlets_config = importlib.import_module("traitlets.config")
    config = traitlets_config.Config()
    config.HistoryManager.enabled = False
    shell = module.InteractiveShell.instance(config=config)

    def run(code: str) -> bool:
        return not shell.run_cell(code, store_history=True).success

    return run


def _hide_own_modules() -> None:
    """Let modules be found as at Python's own prompt, and none of ours."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "patchwright":
            del sys.modules[name]
    sys.path[0] = ""
    sys.argv[:] = [""]


def _run_interruptible(run: Run, code: str) -> bool:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run(code)
    except KeyboardInterrupt:
        return True
    finally:
        signal.signal(signal.SIGINT, _ignore_interrupt)
        sys.stdout.flush()


def _ignore_interrupt(_number: int, _frame: types.FrameType | None) -> None:
    return


def _read_code() -> str:
    size = os.fstat(CODE_FD).st_size
    return os.pread(CODE_FD, size, 0).decode("utf-8", "replace")


def _write_word(line: str) -> None:
    os.write(DONE_FD, line.encode() + b"\n")
