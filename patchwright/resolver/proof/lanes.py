"""Run commands on two versions of the files side by side, within a time limit."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from patchwright.core.system.clock import Clock, with_log_context
from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.resolver.proof.comparison import Pair
from patchwright.resolver.proof.proof_sandbox import (
    COMMAND_LIMIT_S,
    ProofPlace,
    ProofSandbox,
)

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Deadline:
    """A moment of the clock's monotonic counter, in seconds."""

    clock: Clock
    at: float

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> "Deadline":
        return cls(clock, clock.monotonic() + seconds)

    @property
    def left_s(self) -> float:
        return max(0.0, self.at - self.clock.monotonic())

    @property
    def has_passed(self) -> bool:
        return self.left_s <= 0

    def within(self, seconds: float) -> "Deadline":
        """Return the earlier of this deadline and one in so many seconds."""
        return Deadline(self.clock, min(self.at, self.clock.monotonic() + seconds))


class Lane:
    """Runs one command after the other on the files of a commit, in one sandbox.

    The sandbox is started when it is first needed.
    """

    def __init__(self, place: ProofPlace, commit: str, stack: ExitStack) -> None:
        self._place = place
        self._stack = stack
        self._sandbox: ProofSandbox | None = None
        self.commit = commit

    @property
    def sandbox(self) -> ProofSandbox:
        if self._sandbox is None:
            self._sandbox = self._place.start(self.commit)
            self._stack.callback(self._sandbox.close)
        return self._sandbox

    def run(self, role: EvidenceRole, command: str, deadline: Deadline) -> Evidence:
        """Run a command, no longer than until the deadline."""
        limit_s = max(1.0, min(COMMAND_LIMIT_S, deadline.left_s))
        return self.sandbox.run(role, command, limit_s)


@contextmanager
def open_lanes(place: ProofPlace, *commits: str) -> Iterator[tuple[Lane, ...]]:
    """Give a lane for each commit; those with the same files have the same one.

    Their sandboxes are closed at the end.
    """
    with ExitStack() as stack:
        by_tree: dict[str, Lane] = {}
        yield tuple(
            by_tree.setdefault(place.code.tree_of(commit), Lane(place, commit, stack))
            for commit in commits
        )


def side_by_side(first: Callable[[], T], second: Callable[[], U]) -> tuple[T, U]:
    """Make two calls at the same time, and wait for both."""
    with ThreadPoolExecutor(2, thread_name_prefix="evidence") as pool:
        one = pool.submit(with_log_context(first))
        two = pool.submit(with_log_context(second))
        return one.result(), two.result()


def run_on_both(
    before: Lane,
    after: Lane,
    roles: tuple[EvidenceRole, EvidenceRole],
    commands: Sequence[str],
    deadline: Deadline,
) -> list[Pair]:
    """Run each command on both sides, as long as there is time."""

    def run(lane: Lane, role: EvidenceRole) -> list[Evidence]:
        done: list[Evidence] = []
        for command in commands:
            if deadline.has_passed:
                break
            done.append(lane.run(role, command, deadline))
        return done

    if before is after:
        both = run(after, roles[1])
        return [Pair(one.command, one.replace(role=roles[0]), one) for one in both]
    reds, greens = side_by_side(
        lambda: run(before, roles[0]), lambda: run(after, roles[1])
    )
    return [
        Pair(red.command, red, green) for red, green in zip(reds, greens, strict=False)
    ]
