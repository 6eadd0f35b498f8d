"""Parse the language between `${{` and `}}`."""

import re
from dataclasses import dataclass
from typing import Final

from tests.runner.expressions.nodes import (
    Binary,
    Call,
    Context,
    ExpressionError,
    Index,
    Literal,
    Node,
    Not,
)
from tests.runner.expressions.values import Value, to_number

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')"
    r"|(?P<number>[+-]?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?))"
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<sign>\|\||&&|==|!=|<=|>=|[<>!()\[\].,*]))"
)
# From what binds loosest to what binds tightest.
_LEVELS: Final = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="))
_WORDS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str


_END: Final = Token("end", "")


def parse(source: str) -> Node:
    """Return the parsed expression; `ExpressionError` where GitHub refuses it."""
    parser = _Parser(source, _tokens(source))
    node = parser.expression()
    parser.expect_end()
    return node


def _tokens(source: str) -> list[Token]:
    found: list[Token] = []
    position = 0
    while source[position:].strip():
        match = _TOKEN.match(source, position)
        if match is None:
            raise ExpressionError(f"{source!r}: cannot read {source[position:]!r}")
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind]))
        position = match.end()
    return found


class _Parser:
    def __init__(self, source: str, tokens: list[Token]) -> None:
        self._source = source
        self._tokens = tokens
        self._position = 0

    def expression(self, level: int = 0) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self.expression(level + 1)
        while (operator := self._peek().text) in _LEVELS[level]:
            self._next()
            left = Binary(operator, left, self.expression(level + 1))
        return left

    def expect_end(self) -> None:
        if self._peek() is not _END:
            raise self._refusal()

    def _unary(self) -> Node:
        if self._takes("!"):
            return Not(self._unary())
        return self._indexed(self._primary())

    def _primary(self) -> Node:
        token = self._next()
        if token.kind == "text":
            return Literal(token.text[1:-1].replace("''", "'"))
        if token.kind == "number":
            return Literal(to_number(token.text))
        if token.kind == "name":
            return self._named(token.text)
        if token.text == "(":
            inner = self.expression()
            self._expect(")")
            return inner
        raise self._refusal()

    def _named(self, name: str) -> Node:
        if name in _WORDS:
            return Literal(_WORDS[name])
        return Call(name, self._arguments()) if self._takes("(") else Context(name)

    def _arguments(self) -> tuple[Node, ...]:
        if self._takes(")"):
            return ()
        arguments = [self.expression()]
        while self._takes(","):
            arguments.append(self.expression())
        self._expect(")")
        return tuple(arguments)

    def _indexed(self, node: Node) -> Node:
        while True:
            if self._takes("."):
                node = Index(node, self._key())
            elif self._takes("["):
                key = None if self._takes("*") else self.expression()
                self._expect("]")
                node = Index(node, key)
            else:
                return node

    def _key(self) -> Node | None:
        token = self._next()
        if token.text == "*":
            return None
        if token.kind == "name":
            return Literal(token.text)
        raise self._refusal()

    def _peek(self) -> Token:
        has_more = self._position < len(self._tokens)
        return self._tokens[self._position] if has_more else _END

    def _next(self) -> Token:
        token = self._peek()
        self._position += 1
        return token

    def _takes(self, sign: str) -> bool:
        if self._peek() != Token("sign", sign):
            return False
        self._position += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise self._refusal()

    def _refusal(self) -> ExpressionError:
        return ExpressionError(f"{self._source!r}: unexpected {self._peek().text!r}")
