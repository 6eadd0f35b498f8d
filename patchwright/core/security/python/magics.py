"""Part what IPython is given into Python and the commands that stand in it."""

import re
from typing import Final

from patchwright.core.types.base import Value

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
