"""The project's own files, as git sees them."""

import ast
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """A Python file; `name` is its path from the root, with slashes."""

    name: str
    text: str

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return all that is in the tree, which many ask for."""
        return tuple(ast.walk(self.tree))

    def may_name(self, words: Collection[str]) -> bool:
        """Tell at little cost whether to look for names with such words in the tree."""
        return any(word in self.text for word in words)

    @property
    def is_package_mark(self) -> bool:
        return self.name.endswith("/__init__.py")


@cache
def project_files() -> tuple[str, ...]:
    """Return what is tracked and what is about to be: files that git doesn't ignore."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")
    return tuple(sorted(name for name in set(names) if (ROOT / name).is_file()))


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Return the Python files under these folders, or all of them."""
    names = [name for name in project_files() if name.endswith(".py")]
    wanted = [name for name in names if not folders or name.startswith(folders)]
    return tuple(map(_module, wanted))


@cache
def _module(name: str) -> Module:
    return Module(name, (ROOT / name).read_text())


def texts() -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that is text."""
    for name in project_files():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content:
            yield name, content.decode(errors="replace")
