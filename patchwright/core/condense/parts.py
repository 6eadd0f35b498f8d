"""Part a chat into what stays and what may go."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.condense.condenser import History, Turn
from patchwright.core.types.base import Value

GOAL: Final = 0.4
NEWEST_TURNS: Final = 3
NEWEST_SHARE: Final = 0.15
# What the newest turns leave, of the room that is there, to what stands for the others.
LEFT_SHARE: Final = 0.25
# What stands for the others may have so much, however little room there is.
LEAST_BYTES: Final = 1_050


class HistoryParts(Value):
    """`older` may go; `newest` are the turns that the agent is in the middle of."""

    older: tuple[Turn, ...]
    newest: tuple[Turn, ...]


def goal_bytes_of(history: History) -> int:
    return history.goal_bytes or round(history.size_bytes * GOAL)


def free_bytes_of(history: History) -> int:
    """Return what the goal leaves to everything that is not pinned."""
    pinned = total_bytes(turn for turn in history.turns if turn.is_pinned)
    return max(goal_bytes_of(history) - pinned, 0)


def split_history(history: History) -> HistoryParts:
    """Keep at least three turns, and 15 %, where that is within the goal.

    The very newest stays in any case: nobody has read its results.
    """
    room = round(free_bytes_of(history) * (1 - LEFT_SHARE))
    share = round(history.size_bytes * NEWEST_SHARE)
    free = [turn for turn in history.turns if not turn.is_pinned]
    newest: list[Turn] = []
    for turn in reversed(free):
        enough = len(newest) >= NEWEST_TURNS and total_bytes(newest) >= share
        if newest and (enough or total_bytes([*newest, turn]) > room):
            break
        newest.insert(0, turn)
    return HistoryParts(older=tuple(free[: len(free) - len(newest)]), newest=tuple(newest))


def split_history_to_fill(history: History, reserved_bytes: int) -> HistoryParts:
    """Keep all the newest turns that fit the goal beside so many bytes."""
    room = free_bytes_of(history) - reserved_bytes
    free = [turn for turn in history.turns if not turn.is_pinned]
    kept = 1
    while kept < len(free) and total_bytes(free[-kept - 1 :]) <= room:
        kept += 1
    return HistoryParts(older=tuple(free[:-kept]), newest=tuple(free[-kept:]))


def total_bytes(turns: Iterable[Turn]) -> int:
    return sum(turn.size_bytes for turn in turns)
