"""What the agents of a run are to do, and a model that knows how far each has come."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.condense.condenser import Ask, History
from patchwright.core.events.observations import Condensed, ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import ChatMessage, ModelRequest, ToolResult, UserText
from patchwright.core.types.work import Usage

TASK: Final = "task"
DEEPEST: Final = 2

Kind = Literal["work", "think", "broken", "unknown-tool", "bad-arguments"]
_KINDS: tuple[Kind, ...] = ("work", "think", "broken", "unknown-tool", "bad-arguments")
_MARK = re.compile(r"#(\d+)")


@dataclass(frozen=True)
class Plan:
    """The replies of one agent: each the calls it makes, a plan being a delegate.

    A reply without calls is a text. At the end it finishes or rejects.
    """

    turns: tuple[tuple["Kind | Plan", ...], ...]
    rejects: bool = False


def _plan(calls: st.SearchStrategy[Kind | Plan], max_turns: int) -> st.SearchStrategy:
    turns = st.lists(
        st.lists(calls, max_size=3).map(tuple), min_size=1, max_size=max_turns
    )
    return st.builds(Plan, turns=turns.map(_with_few_texts), rejects=st.booleans())


def _with_few_texts(
    turns: list[tuple[Kind | Plan, ...]],
) -> tuple[tuple[Kind | Plan, ...], ...]:
    """Let no text follow another: three of them would be a question."""
    before = [("work",), *turns]
    pairs = zip(before, turns, strict=False)
    return tuple(turn if turn or earlier else ("work",) for earlier, turn in pairs)


_SIMPLE: st.SearchStrategy[Kind | Plan] = st.sampled_from(("work", "work", *_KINDS))
_CHILD = _plan(_SIMPLE | _plan(_SIMPLE, 2), 2)
PLANS: st.SearchStrategy[Plan] = _plan(_SIMPLE | _SIMPLE | _CHILD, 6)


def plans_by_task(plan: Plan, task: str = TASK) -> dict[str, Plan]:
    found = {task: plan}
    for place, call in _calls(plan, task):
        if isinstance(call, Plan):
            found |= plans_by_task(call, place)
    return found


def commands(plan: Plan) -> set[str]:
    """Return every command that the agents of a plan are to run."""
    return {
        f"echo {place}"
        for task, one in plans_by_task(plan).items()
        for place, call in _calls(one, task)
        if call == "work"
    }


def _calls(plan: Plan, task: str) -> Iterator[tuple[str, "Kind | Plan"]]:
    for number, turn in enumerate(plan.turns):
        for at, call in enumerate(turn):
            yield f"{task}.{number}.{at}", call


def task_of(request: ModelRequest) -> str:
    [task, *_] = (one for one in request.messages if isinstance(one, UserText))
    return task.text


def next_reply(request: ModelRequest, plans: Mapping[str, Plan]) -> ModelReply:
    """Answer as the plan says, by the number that the newest reply carries.

    What stands for replies that are no longer shown carries it too.
    """
    task = task_of(request)
    number = max(_marks(request.messages[1:]), default=-1) + 1
    plan = plans[task]
    # Whoever speaks to a run that has just ended makes it end once more.
    number = min(number, len(plan.turns))
    return _reply(plan, task, number).replace(usage=_usage(request))


class CountsReplies:
    """Condenses all but the newest turn into the number of the newest reply in it."""

    name = "counts-replies"

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        del ask
        gone = [turn for turn in history.turns if not turn.is_pinned][:-1]
        marks = [mark for turn in gone for mark in _marks(turn.messages)]
        if len(gone) < 2 or not marks:
            return None
        summary = f"So far: #{max(marks)}."
        return Condensed(first_id=gone[0].id, last_id=gone[-1].id, summary=summary)


def _marks(messages: Iterable[ChatMessage]) -> list[int]:
    texts = (one.text for one in messages if not isinstance(one, ToolResult))
    return [int(mark) for text in texts for mark in _MARK.findall(text)]


def _reply(plan: Plan, task: str, number: int) -> ModelReply:
    if number == len(plan.turns):
        return _ending(plan, task, number)
    places = [f"{task}.{number}.{at}" for at in range(len(plan.turns[number]))]
    calls = list(zip(places, plan.turns[number], strict=True))
    return ModelReply(
        text=f"#{number}",
        tool_calls=tuple(_call(place, call) for place, call in calls),
        malformed={place: f"{place}?" for place, call in calls if call == "broken"},
    )


def _ending(plan: Plan, task: str, number: int) -> ModelReply:
    """End the work, and ask for something more that must not be done."""
    ending = (
        _named("end", "reject", {"reason": f"{task} cannot be done"})
        if plan.rejects
        else _named("end", "finish", {"summary": f"{task} is done"})
    )
    late = _named("late", "shell", {"command": f"echo {task} too late"})
    return ModelReply(text=f"#{number}", tool_calls=(ending, late))


def _call(place: str, call: "Kind | Plan") -> ToolCall:
    if isinstance(call, Plan):
        return _named(place, "delegate", {"task": place})
    match call:
        case "work":
            return _named(place, "shell", {"command": f"echo {place}"})
        case "think":
            return _named(place, "think", {"thought": place})
        case "broken":
            return _named(place, "shell", {})
        case "unknown-tool":
            return _named(place, f"no_such_{place.replace('.', '_')}", {})
        case "bad-arguments":
            return _named(place, "shell", {"script": place})


def _named(call_id: str, name: str, arguments: Mapping[str, JsonValue]) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=json.dumps(arguments))


def _usage(request: ModelRequest) -> Usage:
    chat = sum(len(message.model_dump_json()) for message in request.messages[1:])
    return Usage(cost_usd=0.0, tokens_in=chat // 4, tokens_out=1)
