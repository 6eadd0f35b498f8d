"""Judge what Python code does with files."""

import ast
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import judge_delete, judge_read, judge_write
from patchwright.core.security.python.names import literal_text
from patchwright.core.security.verdicts import LOW_RISK, medium_risk, worst_verdict

_DELETES: Final = {
    "shutil.rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs",
}  # fmt: skip
_WRITES: Final = {
    "os.chmod", "os.chown", "os.mkdir", "os.makedirs", "os.rename", "os.replace",
    "os.truncate", "os.link", "os.symlink", "shutil.copy", "shutil.copyfile",
    "shutil.copy2", "shutil.copytree", "shutil.move",
}  # fmt: skip
_OPENS: Final = {"open", "io.open", "codecs.open"}
_PATH_WRITES: Final = {"write_text", "write_bytes", "touch", "mkdir", "chmod", "rename"}
_PATH_DELETES: Final = {"unlink", "rmdir"}


def judge_files(call: ast.Call, name: str) -> Verdict:
    """Judge a call by the paths that are written out in it."""
    texts = [literal_text(argument) for argument in call.args]
    known = [text for text in texts if text is not None]
    if name == "shutil.rmtree" and not known:
        return medium_risk("It deletes a folder whose name is only known when it is run.")
    if name in _DELETES:
        return worst_verdict(map(judge_delete, known))
    if name in _WRITES:
        return worst_verdict(map(judge_write, known))
    if name in _OPENS and known[:1]:
        return _judge_open(call, known[0])
    return _judge_method(call.func)


def _judge_open(call: ast.Call, path: str) -> Verdict:
    named = (keyword.value for keyword in call.keywords if keyword.arg == "mode")
    modes = [*call.args[1:2], *named]
    mode = next((text for one in modes if (text := literal_text(one))), "r")
    return judge_read(path) if set(mode) <= set("rtbU") else judge_write(path)


def _judge_method(called: ast.expr) -> Verdict:
    """Judge `Path("...").write_text` and its like."""
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Call):
        return LOW_RISK
    made = called.value
    path = literal_text(made.args[0]) if made.args else None
    if path is None or not isinstance(made.func, ast.Name | ast.Attribute):
        return LOW_RISK
    if called.attr in _PATH_DELETES:
        return judge_delete(path)
    return judge_write(path) if called.attr in _PATH_WRITES else LOW_RISK
