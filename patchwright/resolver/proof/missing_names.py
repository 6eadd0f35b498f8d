"""Know a test that fails only because something is missing which the change adds."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.types.evidence import Evidence
from patchwright.integrations.git.changes import ChangeKind, is_test
from patchwright.resolver.guards.changed_files import FileVersions
from patchwright.resolver.guards.tampering import is_source

# In what languages say that something is not there, its name. Values of the languages'
# own types have no parts that a change could add.
_MISSING: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"ImportError: cannot import name '(?P<name>\w+)'",
        r"ModuleNotFoundError: No module named '(?:[\w.]+\.)?(?P<name>\w+)'",
        (
            r"AttributeError: (?!'(?:NoneType|str|bytes|int|float|bool|list|tuple|dict"
            r"|set|frozenset|function|method|generator)' object)"
            r".*? has no attribute '(?P<name>\w+)'"
        ),
        r"AttributeError: (?P<name>\w+)$",
        r"NameError: (?:global )?name '(?P<name>\w+)' is not defined",
        (
            r"TypeError: (?:\S+\.)?(?P<function>\w+)\(\) got an unexpected keyword "
            r"argument '(?P<name>\w+)'"
        ),
        r"TypeError: (?:\S+\.)?(?P<function>\w+)\(\) takes .*positional argument",
        r"TypeError: (?:\S+\.)?(?P<function>\w+)\(\) missing \d+ required",
        # JavaScript.
        r"TypeError: (?:[\w()]+\.)*(?P<name>\w+) is not a (?:function|constructor)",
        r"ReferenceError: (?P<name>\w+) is not defined",
        r"does not provide an export named '(?P<name>\w+)'",
        r"Cannot find (?:module|package) '(?:[^']*/)?(?P<name>\w+)[^'/]*'",
        # Ruby, PHP, Go, Rust, Java.
        r"undefined (?:local variable or )?method [`'](?P<name>\w+[?!]?)'(?! for nil)",
        r"uninitialized constant (?:\w+::)*(?P<name>\w+)",
        r"Call to undefined (?:method|function) (?:[\w\\]+::)?(?P<name>\w+)\(",
        r"(?:Class|Interface|Trait) \"(?:\w+\\)*(?P<name>\w+)\" not found",
        r"\bundefined: (?:\w+\.)*(?P<name>\w+)",
        r"cannot find (?:function|value|struct|macro|type|trait)\b.*? `(?P<name>\w+)`",
        (
            r"no (?:function or associated item|method|field|`\w+`)[\w ]* (?:named )?"
            r"`(?P<name>\w+)`"
        ),
        r"symbol:\s+\w+ (?P<name>\w+)",
    )
)
_DEFINED: Final = re.compile(
    r"\b(?:function\*?|class|const|let|var|def|fn|func|struct|enum|trait|interface|type"
    r"|module|mod|macro_rules!)\s+(?:\([^)]*\)\s*)?(?:self\.)?(\w+)"
    r"|\b(\w+)\s*(?::\s*\w+\s*)?=(?![=>])|\b(\w+)\s*\([^()]*\)\s*\{"
    r"|\b(\w+)\s*:\s*(?:async\s*)?(?:function\b|\()"
)
_WORD: Final = re.compile(r"\w+")
# What a test runner prints before an error in its summary, or on its line.
_ERROR_LINE: Final = re.compile(
    r"^(?:E +|  +|\S+\.py:\d+: )?(?:[\w.]+\.)?(\w*(?:Error|Exception)\b.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class AddedNames:
    """What a change newly defines outside tests.

    `functions` are also those that have got other parameters. `known` are the words of
    the code before the change, and `tested` those of its tests.
    """

    names: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    tested: frozenset[str] = frozenset()

    def explain(self, cause: str) -> bool:
        """Tell whether a test failed because it names what is not there yet.

        An error that only comes up inside the code, or for a name that the code itself
        uses, is a fault of the code.
        """
        found = next(filter(None, (one.search(cause) for one in _MISSING)), None)
        if found is None:
            return False
        groups = found.groupdict()
        function, name = groups.get("function"), groups.get("name")
        if function:
            return function in self.functions and (name is None or name in self.tested)
        if name not in self.names or name not in self.tested:
            return False
        return not (cause.startswith("NameError") and name in self.known)

    def explain_failure(self, one: Evidence, test: str) -> bool:
        """Say the same of a failed test, also where its runner tells no cause of it."""
        cause = one.results.causes.get(test, "") if one.results else ""
        causes = [cause] if cause else find_causes(one.tail)
        return any(map(self.explain, causes))

    def explain_run(self, one: Evidence) -> bool:
        """Say the same of tests that could not be loaded."""
        told = one.results.causes.values() if one.results else ()
        lines = one.tail.splitlines()
        return any(map(self.explain, (*told, *find_causes(one.tail), *lines)))


def find_causes(tail: str) -> tuple[str, ...]:
    """Return the lines of an output that tell of an error."""
    return tuple(found[1] for found in _ERROR_LINE.finditer(tail))


def find_added_names(versions: Iterable[FileVersions]) -> AddedNames:
    """Return what the change defines in each file that was not defined there."""
    names: set[str] = set()
    functions: set[str] = set()
    known: set[str] = set()
    tested: set[str] = set()
    for one in versions:
        path = one.change.path
        if is_test(path):
            tested.update(_WORD.findall(one.after or ""))
        elif is_source(path):
            old, new = one.before or "", one.after or ""
            added = _definitions(path, new) - _definitions(path, old)
            names |= {_last(name) for name in added if "(" not in name}
            functions |= {
                _last(name.partition("(")[0]) for name in added if "(" in name
            }
            known.update(_WORD.findall(old))
            if one.change.kind is ChangeKind.ADDED:
                names |= {*PurePosixPath(path).with_suffix("").parts}
    sets = (names, functions, known, tested)
    return AddedNames(*map(frozenset, sets))


def _last(qualified: str) -> str:
    return qualified.rpartition(".")[2]


def _definitions(path: str, text: str) -> set[str]:
    if PurePosixPath(path).suffix == ".py":
        try:
            return set(_python_definitions(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):
            pass
    found = _DEFINED.findall(text)
    return {name for groups in found for name in groups if name}


def _python_definitions(tree: ast.AST, owner: str = "") -> Iterator[str]:
    """Yield what a module and its classes define, with the class that it belongs to.

    What is inside a function is seen by nobody else, but for attributes.
    """
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{owner}{name}"
                # With other parameters it is missing for who calls it with them.
                yield f"{owner}{name}({ast.unparse(node.args)})"
                yield from _attributes(node, owner)
            case ast.ClassDef(name=name):
                yield f"{owner}{name}"
                yield from _python_definitions(node, f"{owner}{name}.")
            case ast.Name(id=name, ctx=ast.Store()):
                yield f"{owner}{name}"
            case ast.alias(name=name, asname=other):
                yield f"{owner}{other or name.partition('.')[0]}"
            case _:
                yield from _python_definitions(node, owner)


def _attributes(function: ast.AST, owner: str) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield f"{owner}{node.attr}"
