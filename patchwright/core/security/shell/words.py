"""Read a word of a shell script: quotes off, known variables filled in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from tree_sitter import Node

from patchwright.core.security.paths import SCRATCH, UNKNOWN_PART
from patchwright.core.security.shell.script import (
    ShellCommand,
    UnreadableError,
    Values,
    ShellWord,
)

# Between what an expansion without quotes is split into.
_SPLIT: Final = "\x01"
MAX_SPELLINGS: Final = 20

_UNKNOWN: Final = (UNKNOWN_PART,)
_DEFAULTS: Final = {":-", "-", ":=", "="}
_WORD_ESCAPE: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_STRING_ESCAPE: Final = re.compile(r"\\([$`\"\\\n])")
_ANSI_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b"}
_GLOB: Final = re.compile(r"[*?\[]|\{[^}]*(?:,|\.\.)[^}]*\}")

# The commands that run in a node of the tree, by the node's id.
Inner = Mapping[int, tuple[ShellCommand, ...]]


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def without_escapes(text: str) -> str:
    r"""Return what `$'...'`, `printf` and `echo -e` make of a text, such as `\x41`."""
    return _ANSI_ESCAPE.sub(_ansi, text)


def read_words(node: Node, values: Values, inner: Inner) -> Iterator[ShellWord]:
    """Yield what one word becomes: several where a variable holds several."""
    run = tuple(_commands_in(node, inner))
    tricky = _is_tricky(node)
    for text in _expand(node, values, inner, quoted=False).split(_SPLIT):
        if text:
            yield ShellWord(text=text, inner=run, tricky=tricky)


def single_values(nodes: Sequence[Node], values: Values) -> Iterator[Values]:
    """Yield the variables once for each value of those that stand in the nodes.

    Raises `UnreadableError` when there are too many.
    """
    names = {name for node in nodes for name in _variables_in(node)}
    several = [name for name in sorted(names) if len(values.get(name, ())) > 1]
    if prod(len(values[name]) for name in several) > MAX_SPELLINGS:
        raise UnreadableError
    for choice in product(*(values[name] for name in several)):
        only = {name: (value,) for name, value in zip(several, choice, strict=True)}
        yield {**values, **only}


def _variables_in(node: Node) -> Iterator[str]:
    if node.type == "variable_name":
        yield text_of(node)
    for child in node.named_children:
        yield from _variables_in(child)


def _commands_in(node: Node, inner: Inner) -> Iterator[ShellCommand]:
    if node.id in inner:
        yield from inner[node.id]
        return
    for child in node.children:
        yield from _commands_in(child, inner)


def _is_tricky(node: Node) -> bool:
    if node.type == "expansion" and node.named_child_count > 1:
        return True
    if node.type in {"word", "concatenation"} and _GLOB.search(text_of(node)):
        return True
    if node.type in {"expansion", "simple_expansion"}:
        return "IFS" in text_of(node)
    return node.type == "brace_expression" or any(map(_is_tricky, node.children))


def _expand(node: Node, values: Values, inner: Inner, *, quoted: bool) -> str:
    match node.type:
        case "raw_string":
            return text_of(node)[1:-1]
        case "ansi_c_string":
            return without_escapes(text_of(node)[2:-1])
        case "string_content" | "heredoc_content":
            return _STRING_ESCAPE.sub(_unescaped, text_of(node))
        case "string" | "translated_string":
            return "".join(
                _expand(part, values, inner, quoted=True)
                for part in node.named_children
            )
        case "concatenation" | "command_name":
            return "".join(
                _expand(part, values, inner, quoted=quoted) for part in node.children
            )
        case "simple_expansion" | "expansion":
            return _joined(_variable(node, values), quoted=quoted)
        case "command_substitution":
            return _joined((_output(inner.get(node.id, ())),), quoted=quoted)
        case "process_substitution" | "arithmetic_expansion":
            return UNKNOWN_PART
        case _:
            return _WORD_ESCAPE.sub(_unescaped, text_of(node))


def _joined(texts: Sequence[str], *, quoted: bool) -> str:
    split = texts if quoted else [part for text in texts for part in text.split()]
    return _SPLIT.join(split)


def _variable(node: Node, values: Values) -> Sequence[str]:
    name = next((text_of(n) for n in node.named_children if "name" in n.type), "")
    if name == "IFS":
        return (_SPLIT,)
    known = values.get(name, ())
    if node.named_child_count <= 1 and "[" not in text_of(node):
        plain = node.child_count <= len("${}") or node.type == "simple_expansion"
        return known if known and plain else _UNKNOWN
    operator = next((n.type for n in node.children if n.type in _DEFAULTS), None)
    if operator is None:
        return _UNKNOWN
    default = _expand(node.named_children[-1], values, {}, quoted=True)
    return (*(known or _UNKNOWN), default)


def _output(commands: tuple[ShellCommand, ...]) -> str:
    """Return what a substitution gives, where that is plain from the command."""
    if len(commands) != 1:
        return UNKNOWN_PART
    [command] = commands
    texts = [word.text for word in command.words]
    match texts:
        case ["pwd", *_] | ["git", "rev-parse", "--show-toplevel"]:
            return command.folder
        case ["mktemp", *options] if not any("/" in one for one in options):
            return f"{SCRATCH}/made"
        case ["which", program] | ["command", "-v", program] | ["echo", program]:
            return program
        case ["printf", program] if not re.search(r"[%\\]", program):
            return program
        case _:
            return UNKNOWN_PART


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _ansi(found: re.Match[str]) -> str:
    if digits := found[1] or found[2]:
        return chr(int(digits, 16))
    if found[3]:
        return chr(int(found[3], 8))
    return _ANSI_LETTERS.get(found[4], found[4])
