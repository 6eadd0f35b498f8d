"""Scripts that mend a real bug, and whose first finish proves nothing."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from patchwright.core.types.base import Value
from tests.real.recipes import Recipe, Turn, load_recipes


class WrongFinish(Value):
    """A recipe whose first finish has a fault; `said` is in the answer to it.

    It is empty where the controller finds the right test itself, and nothing is said.
    """

    recipe: Recipe
    fault: str
    turns: tuple[Turn, ...]
    said: str

    def __str__(self) -> str:
        return f"{self.recipe}: {self.fault}"


class _Parts(NamedTuple):
    """What a recipe writes as its test, how it mends the code, and its finish."""

    test: Turn
    edit: Turn
    finish: Turn


def load_wrong_finishes() -> tuple[WrongFinish, ...]:
    recipes = {recipe.name: recipe for recipe in load_recipes()}
    return tuple(
        WrongFinish(
            recipe=recipes[name],
            fault=fault,
            turns=tuple(script(_parts(recipes[name]))),
            said=said,
        )
        for name, fault, script, said in _FAULTS
    )


def _parts(recipe: Recipe) -> _Parts:
    by_tool = {turn.tool: turn for turn in recipe.turns}
    return _Parts(by_tool["write"], by_tool["edit"], by_tool["finish"])


def _no_command(parts: _Parts) -> Sequence[Turn]:
    return [parts.edit, _naming(parts.finish), parts.test, parts.finish]


def _neighbour(parts: _Parts) -> Sequence[Turn]:
    wrong = _naming(parts.finish, "python3 -m unittest test_parse")
    return [parts.edit, wrong, parts.test, parts.finish]


def _misspelt(parts: _Parts) -> Sequence[Turn]:
    wrong = _naming(parts.finish, "python3 -m unittest tests.test_slash")
    return [parts.test, parts.edit, wrong]


def _green_test(parts: _Parts) -> Sequence[Turn]:
    """Look at a word first that was right before."""
    green = _rewritten(
        parts.test,
        ('("passerby", "passersby")', '("post", "posts")'),
        ('(word), "passersby")', '(word), "posts")'),
        ('(word), "passerby")', '(word), "post")'),
    )
    return [green, parts.edit, parts.finish, parts.test, parts.finish]


def _wrong_test(parts: _Parts) -> Sequence[Turn]:
    wrong = _rewritten(parts.test, ('"-" + naturalsize', '"minus " + naturalsize'))
    return [wrong, parts.edit, parts.finish, parts.test, parts.finish]


def _too_broad(parts: _Parts) -> Sequence[Turn]:
    """Part by truth whatever the predicate, and so break the tests of predicates."""
    right, broad = "decide = bool if pred is None else pred", "decide = bool"
    edits = parts.edit.arguments["edits"]
    assert isinstance(edits, list)
    assert isinstance(edits[0], dict)
    too_broad = {**edits[0], "new": str(edits[0]["new"]).replace(right, broad)}
    path = parts.edit.arguments["path"]
    mend = {"old": broad, "new": right}
    return [
        parts.test,
        Turn(tool="edit", arguments={"path": path, "edits": [too_broad]}),
        parts.finish,
        Turn(tool="edit", arguments={"path": path, "edits": [mend]}),
        parts.finish,
    ]


def _naming(finish: Turn, *commands: str) -> Turn:
    return finish.replace(
        arguments={**finish.arguments, "test_commands": list(commands)}
    )


def _rewritten(test: Turn, *changes: tuple[str, str]) -> Turn:
    content = str(test.arguments["content"])
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    return test.replace(arguments={**test.arguments, "content": content})


_FAULTS: Sequence[tuple[str, str, Callable[[_Parts], Sequence[Turn]], str]] = (
    ("boltons", "no command", _no_command, "no test command was named"),
    (
        "parse",
        "a neighbouring test file",
        _neighbour,
        "`python3 -m unittest test_parse`",
    ),
    ("sqlparse", "a misspelt file", _misspelt, ""),
    (
        "inflection",
        "a test that passes before",
        _green_test,
        "passes without the change",
    ),
    ("humanize", "a test that fails after", _wrong_test, "Contradicted"),
    ("more-itertools", "a fix that breaks two tests", _too_broad, "Contradicted"),
)
