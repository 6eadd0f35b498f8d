"""Judge Python code by what it calls."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Final

from patchwright.core.security.addresses import Host, host_of, kind_of
from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import (
    Place,
    absolute,
    judge_delete,
    judge_read,
    judge_write,
    place_of,
)
from patchwright.core.security.verdicts import LOW, high, medium, worst

Shell = Callable[[str], Verdict]

_STARTS: Final = re.compile(
    r"(?:os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|startfile)"
    r"|subprocess\.\w+|pty\.spawn|commands\.\w+|asyncio\.create_subprocess_\w+)\Z"
)
_READS_CODE: Final = {"eval", "exec", "compile", "builtins.eval", "builtins.exec"}
_HIDES: Final = re.compile(
    r"(?:base64|codecs|zlib|marshal|pickle|binascii|bz2|lzma)\.|bytes\.fromhex\Z"
)
_UNSAFE: Final = re.compile(r"(?:pickle|marshal|dill|cloudpickle)\.loads?\Z|ctypes\.")
_IMPORTS: Final = {"__import__", "importlib.import_module"}
_NETWORK: Final = re.compile(
    r"(?:socket|requests|urllib\.request|urllib3|httpx|http\.client|aiohttp|ftplib"
    r"|smtplib|paramiko|telnetlib|websockets?|boto3|dns)\."
)
_SENDS: Final = re.compile(
    r"\.(?:post|put|patch|delete|request|send\w*|connect|upload\w*)\Z"
)
_ALWAYS_SENDS: Final = re.compile(
    r"(?:socket|ftplib|smtplib|paramiko|telnetlib|boto3)\."
)
_HARMLESS: Final = re.compile(
    r"socket\.(?:gethostname|AF_\w+|SOCK_\w+|inet_\w+)|\w+\.(?:exceptions|Timeout)\b"
)
_DELETES: Final = {
    "shutil.rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs",
}  # fmt: skip
_WRITES: Final = {
    "os.chmod", "os.chown", "os.mkdir", "os.makedirs", "os.rename", "os.replace",
    "shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move", "os.symlink",
    "os.truncate", "os.link", "shutil.copytree",
}  # fmt: skip
_PATH_WRITES: Final = {"write_text", "write_bytes", "touch", "mkdir", "chmod", "rename"}
_PATH_DELETES: Final = {"unlink", "rmdir"}
_SHELL_LINE: Final = re.compile(r"^\s*!{1,2}(.*)$", re.MULTILINE)
_MAGIC_LINE: Final = re.compile(r"^\s*%(?!%).*$", re.MULTILINE)
_SHELL_CELL: Final = re.compile(
    r"\s*%%(?:bash|sh|script\s+\w+|!)[^\n]*\n(.*)", re.DOTALL
)
_UNKNOWN_COMMAND: Final = "It starts a program that is only known when it is run."


def judge_python(code: str, shell: Shell) -> Verdict:
    """Judge code that plain Python or IPython is given; `shell` judges commands."""
    if cell := _SHELL_CELL.match(code):
        return shell(cell[1])
    verdicts = [shell(line) for line in _SHELL_LINE.findall(code)]
    verdicts += [shell(line.strip().lstrip("%")) for line in _MAGIC_LINE.findall(code)]
    plain = _MAGIC_LINE.sub("pass", _SHELL_LINE.sub("pass", code))
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return worst([*verdicts, medium("It cannot be read as Python.")])
    return worst([*verdicts, *_judge_tree(tree, shell)])


def _judge_tree(tree: ast.Module, shell: Shell) -> Iterator[Verdict]:
    names = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield _judge_call(node, _name_of(node.func, names), names, shell)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _judge_text(node.value)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                names[one.asname or one.name.partition(".")[0]] = (
                    one.name if one.asname else one.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                names[one.asname or one.name] = f"{node.module}.{one.name}"
    return names


def _name_of(node: ast.expr, names: dict[str, str]) -> str:
    """Return the dotted name of what is called; `?` stands for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(names.get(node.id, node.id))
    elif isinstance(node, ast.Call) and _name_of(node.func, names) in _IMPORTS:
        parts.append(str(_text(node.args[0]) if node.args else "?"))
    else:
        parts.append("?")
    return ".".join(reversed(parts))


def _judge_call(
    call: ast.Call, name: str, names: dict[str, str], shell: Shell
) -> Verdict:
    if _STARTS.match(name):
        return _judge_command(call, shell)
    if name in _READS_CODE:
        return _judge_code(call, names, shell)
    if _UNSAFE.match(name):
        return high("It runs code that is hidden in another form.")
    if name == "getattr" and len(call.args) > 1 and _text(call.args[1]) is None:
        return medium("What it calls is only known when it is run.")
    if _NETWORK.match(f"{name}.") and not _HARMLESS.match(name):
        return _judge_network(call, name)
    return _judge_files(call, name)


def _judge_command(call: ast.Call, shell: Shell) -> Verdict:
    first = call.args[0] if call.args else None
    if isinstance(first, ast.List | ast.Tuple):
        words = [_text(item) for item in first.elts]
        known = [word for word in words if word is not None]
        if len(known) == len(words):
            return shell(shlex.join(known))
        return worst(
            [medium(_UNKNOWN_COMMAND), shell(shlex.join(w or "$_" for w in words))]
        )
    text = _text(first) if first is not None else None
    return medium(_UNKNOWN_COMMAND) if text is None else shell(text)


def _judge_code(call: ast.Call, names: dict[str, str], shell: Shell) -> Verdict:
    text = _text(call.args[0]) if call.args else None
    if text is not None:
        return judge_python(text, shell)
    calls = (n for a in call.args for n in ast.walk(a) if isinstance(n, ast.Call))
    if any(_HIDES.match(_name_of(one.func, names)) for one in calls):
        return high("It runs code that is hidden in another form.")
    return medium("It runs code that is only known when it is run.")


def _judge_network(call: ast.Call, name: str) -> Verdict:
    texts = [text for node in ast.walk(call) if (text := _text(node)) is not None]
    hosts = {kind_of(host_of(text)) for text in texts if _is_address(text)}
    if Host.METADATA in hosts:
        return high(
            "It asks the cloud's metadata service, which gives out credentials."
        )
    if hosts == {Host.OWN}:
        return LOW
    if _SENDS.search(name) or _ALWAYS_SENDS.match(name) or len(call.keywords) > 0:
        return high("It sends data to another machine.")
    return medium("It fetches something from another machine.")


def _is_address(text: str) -> bool:
    return "://" in text or kind_of(host_of(text)) is not Host.OTHER


def _judge_files(call: ast.Call, name: str) -> Verdict:
    texts = [_text(arg) for arg in call.args]
    known = [text for text in texts if text is not None]
    if name in _DELETES:
        return worst(map(judge_delete, known)) if known else _unknown_delete(name)
    if name in _WRITES:
        return worst(map(judge_write, known))
    if name in {"open", "io.open", "codecs.open"} and known[:1]:
        return _judge_open(call, known[0])
    method = name.rpartition(".")[2]
    path = _path_of(call.func)
    if path is not None and method in _PATH_DELETES:
        return judge_delete(path)
    return judge_write(path) if path is not None and method in _PATH_WRITES else LOW


def _unknown_delete(name: str) -> Verdict:
    if name == "shutil.rmtree":
        return medium("It deletes a folder whose name is only known when it is run.")
    return LOW


def _judge_open(call: ast.Call, path: str) -> Verdict:
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    mode = next((text for one in modes if (text := _text(one))), "r")
    return judge_read(path) if set(mode) <= set("rtbU") else judge_write(path)


def _path_of(node: ast.expr) -> str | None:
    """Return the path in `Path("...").method`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Call):
        return None
    made = node.value
    is_path = isinstance(made.func, ast.Name | ast.Attribute) and bool(made.args)
    return _text(made.args[0]) if is_path else None


def _judge_text(text: str) -> Verdict:
    """Judge a text in the code, which may be a path or an address."""
    is_path = text.startswith(("/", "~")) and "\n" not in text
    if is_path and place_of(absolute(text)) is Place.CREDENTIAL:
        return high("It names a place where credentials are kept.")
    if "://" in text and kind_of(host_of(text)) is Host.METADATA:
        return high(
            "It asks the cloud's metadata service, which gives out credentials."
        )
    return LOW


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None or right is None else left + right
    return None
