"""The words, redirects and variables of a shell script."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from tree_sitter import Node

from patchwright.core.security.paths import (
    HOME,
    REPOSITORY,
    SCRATCH,
    UNKNOWN_PART,
    absolute,
)
from patchwright.core.security.shell.script import (
    Redirect,
    ShellCommand,
    ShellWord,
    UnreadableError,
    Values,
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


_NOT_A_STATEMENT: Final = {
    "heredoc_start",
    "heredoc_body",
    "heredoc_end",
    "file_redirect",
    "herestring_redirect",
    "file_descriptor",
}


def read_redirects(node: Node, values: Values, inner: Inner) -> Iterator[Redirect]:
    if node.type == "heredoc_redirect":
        for child in node.children_by_field_name("redirect"):
            yield from read_redirects(child, values, inner)
    elif node.type == "file_redirect":
        operator = next(child.type for child in node.children if not child.is_named)
        for target in node.children_by_field_name("destination")[:1]:
            for word in read_words(target, values, inner):
                yield Redirect(operator=operator, target=word)


def words_behind_redirect(
    node: Node, values: Values, inner: Inner
) -> Iterator[ShellWord]:
    """Yield the command's own words that stand behind a redirection.

    The grammar takes `b` in `a > file b` for a part of the redirection.
    """
    words = [
        *node.children_by_field_name("destination")[1:],
        *node.children_by_field_name("argument"),
    ]
    for word in words:
        yield from read_words(word, values, inner)
    for child in node.children_by_field_name("redirect"):
        yield from words_behind_redirect(child, values, inner)


def text_given(redirects: Sequence[Node], values: Values, inner: Inner) -> str | None:
    """Return the text of a here-document or here-string."""
    for node in redirects:
        for child in node.named_children:
            if child.type == "heredoc_body":
                return text_of(child)
        if node.type == "herestring_redirect":
            words = read_words(node.named_children[-1], values, inner)
            return " ".join(word.text for word in words)
    return None


def behind_heredoc(redirects: Sequence[Node]) -> Iterator[Node]:
    """Yield the statements that stand behind `<<EOF` in its line.

    The grammar takes them for a part of the redirection.
    """
    for node in redirects:
        if node.type != "heredoc_redirect":
            continue
        arguments = node.children_by_field_name("argument")
        for child in node.named_children:
            if child.type not in _NOT_A_STATEMENT and child not in arguments:
                yield child


MAX_VALUES: Final = 200

AT_FIRST: Final[Values] = {"HOME": (HOME,), "PWD": (REPOSITORY,), "TMPDIR": (SCRATCH,)}


class ShellScope:
    """The folder and the variables at one point of a script.

    A variable has all the values that it is ever given, since it is not known which
    branch is taken. A `cd` to somewhere unknown is taken for none.
    """

    def __init__(self, folder: str, values: Values) -> None:
        self.folder = folder
        self.values = dict(values)
        self._before = folder

    def assign(self, node: Node, inner: Inner) -> None:
        """Follow a `variable_assignment`."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        words = () if value is None else read_words(value, self.values, inner)
        self.learn(text_of(name), " ".join(word.text for word in words))

    def learn(self, name: str, value: str) -> None:
        """Add a value; raises `UnreadableError` when there are too many."""
        known = self.values.get(name, ())
        if value in known:
            return
        if len(known) >= MAX_VALUES:
            raise UnreadableError
        self.values[name] = (*known, value)

    def move(self, command: ShellCommand) -> None:
        if command.name in {"cd", "pushd"}:
            targets = [w.text for w in command.arguments if not w.text.startswith("-")]
            target = targets[0] if targets else HOME
            if command.arguments and command.arguments[0].text == "-":
                target = self._before
            if UNKNOWN_PART not in target:
                self._before, self.folder = (self.folder, absolute(target, self.folder))
        elif command.name == "popd":
            self.folder = self._before
