"""Judge Python code by what it calls."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Final

from patchwright.core.security.addresses import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import PathKind, absolute, kind_of_path
from patchwright.core.security.python.files import judge_files
from patchwright.core.security.python.magics import read_cell
from patchwright.core.security.python.names import (
    IMPORTS,
    Names,
    imported_names,
    called_name,
    literal_text,
)
from patchwright.core.security.python.network import is_network, judge_network
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk, worst_verdict

DEEPEST: Final = 5

Shell = Callable[[str], Verdict]

_STARTS: Final = re.compile(
    r"(?:os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|startfile)"
    r"|subprocess\.\w+|pty\.spawn|asyncio\.create_subprocess_\w+"
    r"|.*\?\.(?:system|popen|getoutput))\Z"
)
_READS_CODE: Final = {"eval", "exec", "compile", "builtins.eval", "builtins.exec"}
_DECODES: Final = re.compile(
    r"(?:base64|codecs|zlib|marshal|pickle|binascii|bz2|lzma)\.|bytes\.fromhex\Z"
)
_LOADS_CODE: Final = re.compile(
    r"(?:pickle|marshal|dill|cloudpickle)\.loads?\Z|ctypes\."
)
_HIDDEN: Final = high_risk("It runs code that is hidden in another form.")
_UNKNOWN_CODE: Final = medium_risk("It runs code that is only known when it is run.")
_UNKNOWN_PROGRAM: Final = medium_risk("It starts a program that is only known then.")
_UNKNOWN_CALL: Final = medium_risk("What it calls is only known when it is run.")
_TOO_DEEP: Final = high_risk("It is nested too deeply to be followed.")
_UNREADABLE: Final = medium_risk("It cannot be read as Python.")


def judge_python(code: str, shell: Shell, depth: int = 0) -> Verdict:
    """Judge code for plain Python or IPython; `shell` judges the commands in it.

    What Python cannot read it does not run, either.
    """
    cell = read_cell(code)
    verdicts = [shell(command) for command in cell.commands]
    try:
        tree = ast.parse(cell.python)
        return worst_verdict([*verdicts, *_judge_tree(tree, shell, depth)])
    except (SyntaxError, ValueError, MemoryError):
        return worst_verdict([*verdicts, _UNREADABLE])
    except RecursionError:
        return _TOO_DEEP


def _judge_tree(tree: ast.Module, shell: Shell, depth: int) -> Iterator[Verdict]:
    names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield _judge_call(node, names, shell, depth)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _judge_text(node.value)


def _judge_call(call: ast.Call, names: Names, shell: Shell, depth: int) -> Verdict:
    name = called_name(call.func, names)
    if _STARTS.match(name):
        return _judge_command(call, shell)
    if name in _READS_CODE:
        return _judge_code(call, names, shell, depth)
    if _LOADS_CODE.match(name):
        return _HIDDEN
    if name in IMPORTS and not any(map(literal_text, call.args[:1])):
        return _UNKNOWN_CALL
    if name == "getattr" and literal_text((*call.args, None, None)[1]) is None:
        return _UNKNOWN_CALL
    if is_network(name):
        return judge_network(call, name)
    return judge_files(call, name)


def _judge_command(call: ast.Call, shell: Shell) -> Verdict:
    first = next(iter(call.args), None)
    if isinstance(first, ast.List | ast.Tuple):
        words = [literal_text(item) for item in first.elts]
        script = " ".join("$_" if w is None else shlex.quote(w) for w in words)
        return shell(script)
    text = literal_text(first)
    return _UNKNOWN_PROGRAM if text is None else shell(text)


def _judge_code(call: ast.Call, names: Names, shell: Shell, depth: int) -> Verdict:
    text = literal_text(next(iter(call.args), None))
    if text is not None:
        return _HIDDEN if depth > DEEPEST else judge_python(text, shell, depth + 1)
    calls = (n for a in call.args for n in ast.walk(a) if isinstance(n, ast.Call))
    if any(_DECODES.match(called_name(one.func, names)) for one in calls):
        return _HIDDEN
    return _UNKNOWN_CODE


def _judge_text(text: str) -> Verdict:
    """Judge a text in the code, which may be a path or an address."""
    is_path = text.startswith(("/", "~")) and "\n" not in text
    if is_path and kind_of_path(absolute(text)) is PathKind.CREDENTIAL:
        return high_risk("It names a place where credentials are kept.")
    if "://" in text and kind_of_host(host_of(text)) is HostKind.METADATA:
        return high_risk(METADATA)
    return LOW_RISK
