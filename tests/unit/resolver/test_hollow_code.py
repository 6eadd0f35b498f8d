"""New functions are emptied, and nothing else of a file is changed."""

import asyncio
import inspect
from textwrap import dedent

import pytest

from patchwright.resolver.proof.hollow_code import hollow

BEFORE = dedent("""
    def old(a):
        return a
""")


def emptied(text: str, before: str | None = BEFORE) -> dict[str, object]:
    """Return the names that the emptied text defines."""
    made = hollow(before, dedent(text))
    assert made is not None
    names: dict[str, object] = {}
    exec(made, names)
    return names


def test_a_new_function_returns_none_and_an_old_one_what_it_did() -> None:
    names = emptied("""
        def old(a):
            return a + 1

        def new(a, b=2):
            "Says something."
            c = a + b
            return c
    """)
    assert names["old"](1) == 2  # type: ignore[operator]
    new = names["new"]
    assert new(1) is None  # type: ignore[operator]
    assert new.__doc__ == "Says something."
    with pytest.raises(TypeError):
        new()  # type: ignore[operator]


def test_a_function_with_other_parameters_is_new() -> None:
    names = emptied("def old(a, b=1):\n    return a + b\n")
    assert names["old"](1) is None  # type: ignore[operator]


def test_methods_are_emptied_but_objects_can_be_made() -> None:
    names = emptied("""
        class New:
            def __init__(self, a):
                self.a = a

            @property
            def twice(self): return self.a * 2

            @classmethod
            def of(cls, a):
                return cls(a)
    """)
    kind = names["New"]
    made = kind(3)  # type: ignore[operator]
    assert made.a == 3
    assert made.twice is None
    assert kind.of(1) is None  # type: ignore[attr-defined]


def test_generators_and_coroutines_stay_what_they_are() -> None:
    names = emptied("""
        def count():
            for n in range(3):
                yield n

        async def fetch():
            return 1

        async def stream():
            yield 1
            return

        def one_line(): yield 1

        def outer():
            def inner():
                yield 1
            return list(inner())
    """)
    assert list(names["count"]()) == []  # type: ignore[operator]
    assert list(names["one_line"]()) == []  # type: ignore[operator]
    assert asyncio.run(names["fetch"]()) is None  # type: ignore[operator]
    assert inspect.isasyncgenfunction(names["stream"])
    assert names["outer"]() is None  # type: ignore[operator]


def test_text_around_a_function_stays_byte_for_byte() -> None:
    after = "x = 'größe'\r\ndef new():\r\n    # why\r\n    return 'ä'\r\ny = 2\r\n"
    assert hollow(None, after) == (
        "x = 'größe'\r\ndef new():\r\n    # why\r\n    return None\r\ny = 2\r\n"
    )


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        "EXTRA = 1\n",
        "def broken(:\n",
        "def new():\n    'Only says something.'\n",
        "class New:\n    def __init__(self):\n        self.a = 1\n",
    ],
)
def test_there_may_be_nothing_to_empty(after: str) -> None:
    assert hollow(BEFORE, after) is None


def test_a_function_behind_a_condition_is_found() -> None:
    names = emptied("if True:\n    def new():\n        return 1\n")
    assert names["new"]() is None  # type: ignore[operator]
