"""Parse a shell script, and see to what the grammar gets wrong."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from patchwright.core.security.shell.script import UnreadableError

MAX_MENDS: Final = 20

_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LINE_END: Final = re.compile(rb"(?:\\.|[^\\\n])*(\n)", re.DOTALL)
# A command that goes on after the end of a line would need a backslash before it.
_ONE_LINE: Final = {
    "command",
    "declaration_command",
    "unset_command",
    "redirected_statement",
    "file_redirect",
    "herestring_redirect",
}


def parse_script(text: str) -> Node:
    """Return the root of a script's tree; raises `UnreadableError`.

    In some places the grammar takes the end of a line for a blank, so that the next
    command looks like more arguments of the one before. Such a line end is made a
    semicolon, which means the same, until there is none left.
    """
    source = _ascii(text)
    for _ in range(MAX_MENDS):
        root = _parser().parse(source).root_node
        if root.has_error:
            raise UnreadableError
        mended = _mended(source, root)
        if mended == source:
            return root
        source = mended
    raise UnreadableError


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _ascii(text: str) -> bytes:
    """Spell a script in ASCII: to bash any other character is like a letter.

    The grammar's scanner gives code points to `isdigit`, which for large ones reads
    beyond its table, and may take the whole process with it:
    https://en.cppreference.com/w/c/string/byte/isdigit
    """
    return _NOT_ASCII.sub("_", text).encode()


def _mended(source: bytes, root: Node) -> bytes:
    mended = bytearray(source)
    nodes = list(_nodes(root))
    comments = {node.end_byte: node for node in nodes if node.type == "comment"}
    for start, end in (span for node in nodes for span in _spans(node)):
        if found := _LINE_END.match(source, start, end):
            at = found.start(1)
            mended[at] = ord(";")
            if comment := comments.get(at):
                # The semicolon must not become a part of it.
                length = at - comment.start_byte
                mended[comment.start_byte : at] = b" " * length
    return bytes(mended)


def _nodes(root: Node) -> Iterator[Node]:
    left = [root]
    while left:
        node = left.pop()
        yield node
        left += node.named_children


def _spans(node: Node) -> Iterator[tuple[int, int]]:
    """Yield where, in and between the parts of a node, no line may end."""
    if node.type == "word":
        yield node.start_byte, node.end_byte
    elif node.type in _ONE_LINE:
        for before, after in pairwise(node.children):
            yield before.end_byte, after.start_byte
