"""Shell scripts parsed: what one would run, in which folder, with which input."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from patchwright.core.security.shell.script import (
    ShellCommand,
    ShellWord,
    UnreadableError,
)
from patchwright.core.security.shell.words import (
    ShellScope,
    behind_heredoc,
    read_redirects,
    read_words,
    single_values,
    text_given,
    text_of,
    words_behind_redirect,
)

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


DEEPEST: Final = 60
MAX_COMMANDS: Final = 1_000

_SUBSTITUTIONS: Final = {"command_substitution", "process_substitution"}
_STATEMENTS: Final = {"command", "list", "pipeline", "redirected_statement", "subshell"}
_REDIRECTS: Final = {"file_redirect", "herestring_redirect", "heredoc_redirect"}


Commands = tuple[ShellCommand, ...]


def read_script(text: str, scope: ShellScope) -> Commands:
    """Return the commands of a script in the order in which they are written.

    Raises `UnreadableError`.
    """
    commands = tuple(
        islice(_Reading(scope).walk(parse_script(text), 0), MAX_COMMANDS + 1)
    )
    if len(commands) > MAX_COMMANDS:
        raise UnreadableError
    return commands


class _Reading:
    """Walks the tree once; `source` is always what is piped into a node."""

    def __init__(self, scope: ShellScope) -> None:
        self._scope = scope
        self._inner: dict[int, Commands] = {}

    def walk(
        self, node: Node, depth: int, source: Commands = ()
    ) -> Iterator[ShellCommand]:
        if depth > DEEPEST:
            raise UnreadableError
        match node.type:
            case "pipeline":
                yield from self._pipeline(node, depth, source)
            case "redirected_statement":
                yield from self._redirected(node, depth, source)
            case "command" | "unset_command" | "declaration_command":
                yield from self._command(node, depth, source)
            case "variable_assignment":
                yield from self._substituted(node, depth)
                self._scope.assign(node, self._inner)
            case "for_statement":
                yield from self._loop(node, depth, source)
            case "function_definition":
                yield from self._function(node, depth, source)
            case kind if kind in _SUBSTITUTIONS:
                commands = tuple(self._children(node, depth, ()))
                self._inner[node.id] = commands
                yield from commands
            case kind if kind in _REDIRECTS:
                yield from self._substituted(node, depth)
                yield self._made((), [node], source)
            case _:
                yield from self._children(node, depth, source)

    def _children(
        self, node: Node, depth: int, source: Commands
    ) -> Iterator[ShellCommand]:
        for child in node.named_children:
            yield from self.walk(child, depth + 1, source)

    def _pipeline(
        self, node: Node, depth: int, source: Commands
    ) -> Iterator[ShellCommand]:
        for stage in node.named_children:
            commands = tuple(self.walk(stage, depth + 1, source))
            yield from commands
            source = (*source, *commands)

    def _redirected(
        self, node: Node, depth: int, source: Commands
    ) -> Iterator[ShellCommand]:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child.type in _REDIRECTS]
        for redirect in redirects:
            yield from self._substituted(redirect, depth)
        commands = () if body is None else tuple(self.walk(body, depth + 1, source))
        given = self._made((), redirects, source)
        for command in commands or (given,):
            yield _redirect(command, given)
        for rest in behind_heredoc(redirects):
            yield from self.walk(rest, depth + 1, (*source, *commands, given))

    def _command(
        self, node: Node, depth: int, source: Commands
    ) -> Iterator[ShellCommand]:
        yield from self._substituted(node, depth)
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._scope.assign(child, self._inner)
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        for words in self._spellings(node):
            command = self._made(words, redirects, source)
            self._scope.move(command)
            yield command

    def _spellings(self, node: Node) -> Iterator[tuple[ShellWord, ...]]:
        """Yield a command's words, for each program that a variable may name."""
        kinds = {"variable_assignment", *_REDIRECTS}
        parts = [child for child in node.children if child.type not in kinds]
        for values in single_values(parts[:1], self._scope.values):
            name = (w for p in parts[:1] for w in read_words(p, values, self._inner))
            words = (
                word
                for part in parts[1:]
                for word in read_words(part, self._scope.values, self._inner)
            )
            yield (*name, *words)

    def _loop(self, node: Node, depth: int, source: Commands) -> Iterator[ShellCommand]:
        name, *rest = node.named_children
        for item in rest:
            if item.type not in {"do_group", "compound_statement"}:
                yield from self._substituted(item, depth)
                for word in read_words(item, self._scope.values, self._inner):
                    self._scope.learn(text_of(name), word.text)
        yield from self._children(node, depth, source)

    def _function(
        self, node: Node, depth: int, source: Commands
    ) -> Iterator[ShellCommand]:
        name = node.child_by_field_name("name")
        commands = tuple(self._children(node, depth, source))
        calls = [one for one in commands if name and one.name == text_of(name)]
        for command in commands:
            yield replace(
                command, forks=command.forks or (len(calls) > 1 and command in calls)
            )

    def _substituted(self, node: Node, depth: int) -> Iterator[ShellCommand]:
        """Yield what is run to make up the words of a node."""
        if depth > DEEPEST:
            raise UnreadableError
        if node.type in _SUBSTITUTIONS:
            yield from self.walk(node, depth + 1)
            return
        for child in node.named_children:
            if child.type not in _STATEMENTS:
                yield from self._substituted(child, depth + 1)

    def _made(
        self, words: tuple[ShellWord, ...], redirects: list[Node], source: Commands
    ) -> ShellCommand:
        values, inner = self._scope.values, self._inner
        stray = (
            w for node in redirects for w in words_behind_redirect(node, values, inner)
        )
        read = (r for node in redirects for r in read_redirects(node, values, inner))
        return ShellCommand(
            words=(*words, *stray),
            folder=self._scope.folder,
            redirects=tuple(read),
            stdin=text_given(redirects, values, inner),
            piped_from=source,
            values=dict(values),
        )


def _redirect(command: ShellCommand, given: ShellCommand) -> ShellCommand:
    if command is given:
        return given
    return replace(
        command,
        words=(*command.words, *given.words),
        redirects=(*command.redirects, *given.redirects),
        stdin=given.stdin if command.stdin is None else command.stdin,
    )
