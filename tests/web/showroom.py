"""Runs of every kind for who looks at the pages, and what the model says in them."""

from collections.abc import Callable, Mapping

from tests.fakes.llm.turns import Script, TurnLike, call, hang, say
from tests.flow.script import Request, asked
from tests.flow.story import NEW_TEST

DONE = "The total ignores the pieces"
WAITING = "Totals in another currency"
LIVE = "Totals of very long carts"
PRICES = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.000003",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.000015",
}
QUESTION = (
    "In which currency is the total to be?\n\n1. Cents, as the prices are\n2. Euros\n\n"
    "`cart.py` says nothing about it."
)
_TEST = "python3 -m unittest test_pieces"


def fix() -> list[TurnLike]:
    """Look, plan, test, fix and finish, with words in between."""
    steps = ("Write a test that fails", "Multiply by the pieces", "Run all tests")
    return [
        say("I look at the code first.", call("shell", command="cat cart.py")),
        _todo(steps, 0),
        say(
            "The test comes first: it has to fail.",
            call("write", path="test_pieces.py", content=NEW_TEST),
            call("shell", command=_TEST),
        ),
        say(
            "`total` adds the prices and never looks at `pieces`.",
            call(
                "edit",
                path="cart.py",
                edits=[
                    {
                        "old": "sum(prices)",
                        "new": "sum(p * n for p, n in zip(prices, pieces))",
                    }
                ],
            ),
            call("shell", command="python3 -m unittest -v"),
        ),
        _todo(steps, 3),
        call(
            "finish",
            title="Count every piece",
            summary="`total` added the prices and ignored the pieces. "
            "It multiplies each price by its number of pieces now.",
            test_commands=[_TEST],
        ),
    ]


def question() -> list[TurnLike]:
    return [
        say("I look at the code first.", call("shell", command="cat cart.py")),
        call("ask", question=QUESTION),
    ]


def endless() -> list[TurnLike]:
    steps = ("Measure it", "Make it faster", "Measure it again")
    return [_todo(steps, 1), call("shell", command="seq 3000; false"), hang()]


def _todo(steps: tuple[str, ...], done: int) -> TurnLike:
    states = ["done"] * done + ["doing"] + ["open"] * len(steps)
    todos = [
        {"text": text, "state": state}
        for text, state in zip(steps, states, strict=False)
    ]
    return call("todo", todos=todos)


def by_title(scripts: Mapping[str, Callable[[], list[TurnLike]]]) -> Script:
    """Play the turns of the run whose title the model is told; others never end."""
    playing = {title: iter(turns()) for title, turns in scripts.items()}

    def answer(request: Request) -> TurnLike:
        told = asked(request)
        found = (next(turns) for title, turns in playing.items() if title in told)
        return next(found, hang())

    return answer
