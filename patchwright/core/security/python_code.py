"""The risk of Python code, judged by what it calls."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.hosts import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.paths import (
    PathKind,
    absolute,
    judge_delete,
    judge_read,
    judge_write,
    kind_of_path,
)
from patchwright.core.types.base import Value

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
        attribute = literal_text(node.args[1]) or UNKNOWN_EXPRESSION
        return f"{called_name(node.args[0], names)}.{attribute}"
    return UNKNOWN_EXPRESSION


_SHELL_LINE: Final = re.compile(
    r"^[ \t]*+(?:\w[\w, \t]*+=[ \t]*+)?!{1,2}(?!=)(.*)$", re.MULTILINE
)
_MAGIC_LINE: Final = re.compile(
    r"^[ \t]*+(?:\w[\w, \t]*+=[ \t]*+)?%(?!%)(\w+)(.*)$", re.MULTILINE
)
_SHELL_CELL: Final = re.compile(
    r"\s*+%%(?:bash|sh|!|sx|system|script[^\n]*)[^\n]*\n(.*)", re.DOTALL
)
_OTHER_CELL: Final = re.compile(r"\A\s*+%%[^\n]*(?:\n|\Z)")
# What follows these is a command; what follows others is their name's own argument.
# https://ipython.readthedocs.io/en/stable/interactive/magics.html
_SHELL_MAGICS: Final = {"sx", "system", "sc"}
_PYTHON_MAGICS: Final = {"time", "timeit", "prun"}


class NotebookCell(Value):
    """`python` is the code without magics; `commands` are for the shell."""

    python: str
    commands: tuple[str, ...] = ()


def read_cell(code: str) -> NotebookCell:
    if cell := _SHELL_CELL.match(code):
        return NotebookCell(python="", commands=(cell[1],))
    commands = _SHELL_LINE.findall(code)
    timed: list[str] = []
    for name, rest in _MAGIC_LINE.findall(code):
        if name in _PYTHON_MAGICS:
            timed.append(rest.strip())
        else:
            commands.append(rest if name in _SHELL_MAGICS else f"{name}{rest}")
    plain = _MAGIC_LINE.sub("pass", _SHELL_LINE.sub("pass", _OTHER_CELL.sub("", code)))
    return NotebookCell(
        python="\n".join([plain, *timed]),
        commands=tuple(command.strip() for command in commands),
    )


# The calls that touch the paths written out in them.
_ON_PATHS: Final[Mapping[str, Callable[[str], Verdict]]] = {
    **dict.fromkeys(
        ("shutil.rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs"),
        judge_delete,
    ),
    **dict.fromkeys(
        (
            *("os.chmod", "os.chown", "os.mkdir", "os.makedirs", "os.rename"),
            *("os.replace", "os.truncate", "os.link", "os.symlink", "shutil.copy"),
            *("shutil.copyfile", "shutil.copy2", "shutil.copytree", "shutil.move"),
        ),
        judge_write,
    ),
}
# The methods of `Path("...")`.
_OF_PATH: Final[Mapping[str, Callable[[str], Verdict]]] = {
    **dict.fromkeys(("unlink", "rmdir"), judge_delete),
    **dict.fromkeys(
        ("write_text", "write_bytes", "touch", "mkdir", "chmod", "rename"), judge_write
    ),
}
_UNKNOWN_FOLDER: Final = medium_risk(
    "It deletes a folder whose name is only known when it is run."
)


def _judge_files(call: ast.Call, name: str) -> Verdict:
    """Judge a call by the paths that are written out in it."""
    known = [text for one in call.args if (text := literal_text(one)) is not None]
    if name == "shutil.rmtree" and not known:
        return _UNKNOWN_FOLDER
    if judge := _ON_PATHS.get(name):
        return worst_verdict(map(judge, known))
    if name in {"open", "io.open", "codecs.open"} and known:
        named = (keyword.value for keyword in call.keywords if keyword.arg == "mode")
        modes = map(literal_text, [*call.args[1:2], *named])
        reads = set(next(filter(None, modes), "r")) <= set("rtbU")
        return judge_read(known[0]) if reads else judge_write(known[0])
    match call.func:
        case ast.Attribute(
            attr=method,
            value=ast.Call(func=ast.Name() | ast.Attribute(), args=[one, *_]),
        ) if method in _OF_PATH:
            path = literal_text(one)
            return LOW_RISK if path is None else _OF_PATH[method](path)
        case _:
            return LOW_RISK


_NETWORK: Final = re.compile(
    r"(?!socket\.(?:gethostname|inet_\w+|hton\w|ntoh\w)\Z)"
    r"(?:socket|requests|urllib\.request|urllib3|httpx|http\.client|aiohttp|ftplib"
    r"|smtplib|paramiko|telnetlib|websockets?|boto3|dns)(?:\.|\Z)"
)
_SENDS: Final = re.compile(
    r"(?:socket|ftplib|smtplib|paramiko|telnetlib|boto3)(?:\.|\Z)"
    r"|.*\.(?:post|put|patch|delete|request|send\w*|connect|upload\w*)\Z"
)
_SENDING: Final = {"data", "json", "files", "content", "params", "body"}


def _judge_network(call: ast.Call, name: str) -> Verdict:
    texts = filter(None, map(literal_text, ast.walk(call)))
    kinds = [(kind_of_host(host_of(text)), "://" in text) for text in texts]
    hosts = {kind for kind, is_url in kinds if is_url or kind is not HostKind.OTHER}
    if HostKind.METADATA in hosts:
        return high_risk(METADATA)
    if hosts == {HostKind.OWN}:
        return LOW_RISK
    if any(one.arg in _SENDING for one in call.keywords) or _SENDS.match(name):
        return high_risk("It sends data to another machine.")
    return medium_risk("It fetches something from another machine.")


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
    first, second, *_ = (*map(literal_text, call.args), None, None)
    if _STARTS.match(name):
        return _judge_command(call, shell)
    if name in _READS_CODE:
        return _judge_code(call, names, shell, depth)
    if _LOADS_CODE.match(name):
        return _HIDDEN
    if (name in IMPORTS and not first) or (name == "getattr" and second is None):
        return _UNKNOWN_CALL
    judge = _judge_network if _NETWORK.match(name) else _judge_files
    return judge(call, name)


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
    is_hidden = any(_DECODES.match(called_name(one.func, names)) for one in calls)
    return _HIDDEN if is_hidden else _UNKNOWN_CODE


def _judge_text(text: str) -> Verdict:
    """Judge a text in the code, which may be a path or an address."""
    is_path = text.startswith(("/", "~")) and "\n" not in text
    if is_path and kind_of_path(absolute(text)) is PathKind.CREDENTIAL:
        return high_risk("It names a place where credentials are kept.")
    if "://" in text and kind_of_host(host_of(text)) is HostKind.METADATA:
        return high_risk(METADATA)
    return LOW_RISK
