"""Read what a command's input and output are redirected to."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from patchwright.core.security.shell.script import Redirect, Values, ShellWord
from patchwright.core.security.shell.words import Inner, read_words, text_of

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


def words_behind_redirect(node: Node, values: Values, inner: Inner) -> Iterator[ShellWord]:
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
