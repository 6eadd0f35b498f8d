"""The comparison of a run with its replay, without what differs every time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from patchwright.core.events import types as ev
from patchwright.core.replay.models import ReplayEndedError
from patchwright.core.replay.story import exit_text, tell_story
from patchwright.core.replay.trajectory import payloads_of
from patchwright.core.text.strings import normalise_text
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome

Normal = dict[str, JsonValue]

# Who a run is and when it was, what its commits are called (their dates are in the
# name), how a result came about, and how it is put to the model.
_INCIDENTAL: Final = {
    *("run_id", "version", "model", "latency_ms", "duration_ms", "seconds", "until"),
    *("full_output_path", "dropped_bytes", "risk", "commit", "head_sha", "tree"),
    *("digest", "up_to", "note", "excerpt"),
}
_LISTING: Final = "unknown-tool"


def normalise_result(observation: ev.Observation) -> Normal:
    """Return an observation in the form in which two runs can be compared."""
    tree = observation.model_dump(mode="json", exclude={"call_id", "agent"})
    if isinstance(observation, ev.ErrorObservation) and observation.reason == _LISTING:
        # The tools that are there are not what the answer is about.
        tree["text"] = observation.text.partition(". ")[0]
    if isinstance(observation, ev.DelegateResult) and (
        observation.outcome is OutcomeKind.OVER_BUDGET
    ):
        tree["summary"] = ""
    return without_incidents(tree)


def without_incidents(tree: Normal) -> Normal:
    """Leave out of a tree what differs from one run of the same thing to the next."""
    return {key: _calm(tree[key]) for key in sorted(tree) if key not in _INCIDENTAL}


def _calm(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return normalise_text(value)
    if isinstance(value, dict):
        return without_incidents(value)
    if isinstance(value, list):
        return [_calm(one) for one in value]
    return value


# Time, people at their keyboards and failing machines are not in a recording.
_FROM_OUTSIDE = (OutcomeKind.TIMED_OUT, OutcomeKind.STOPPED, OutcomeKind.FAILED)


class Difference(Value):
    """Where two runs part; `what` is a step's call, the tree, a proof or the outcome.

    An empty text stands for something that is only in the other run.
    """

    what: str
    recorded: str
    rerun: str
    step: int | None = None


class Comparison(Value):
    """How much of a run was found to be the same, and what was not.

    `notes` say what could not be compared.
    """

    steps: int
    results_compared: int
    results_same: int
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        return not self.differences


def compare(recorded: Sequence[ev.Event], rerun: Sequence[ev.Event]) -> Comparison:
    """Compare the result of each call, step by step; then the proof and the outcome."""
    then, now = _ComparedRun(recorded), _ComparedRun(rerun)
    parted = [
        one.difference(now.acts.get(key))
        for key, one in then.acts.items()
        if key not in now.acts or one.result != now.acts[key].result
    ]
    more = [
        Difference(step=one.step, what=one.text, recorded="", rerun=one.summary)
        for key, one in now.acts.items()
        if key not in then.acts
    ]
    proofs = _compare_proofs(recorded, rerun)
    outcomes, notes = _compare_ends(then, now)
    return Comparison(
        steps=len(then.steps),
        results_compared=len(then.acts),
        results_same=len(then.acts) - len(parted),
        differences=(*parted, *more, *proofs, *outcomes),
        notes=notes,
    )


# Whose step, which of it, and which call in it.
_Key = tuple[int, int, int]


@dataclass(frozen=True)
class _Act:
    """A call; `summary` is its result for people, and `result` for the comparison."""

    step: int
    text: str
    summary: str
    result: Normal | None

    def difference(self, again: "_Act | None") -> Difference:
        now = again.summary or "done" if again else ""
        then = self.summary or "done"
        return Difference(step=self.step, what=self.text, recorded=then, rerun=now)


class _ComparedRun:
    """One of the runs: its calls by their places."""

    def __init__(self, events: Sequence[ev.Event]) -> None:
        story = tell_story(events)
        self.steps, self.outcome = story.steps, story.outcome
        payloads = {event.id: event.payload for event in events}
        self.acts: dict[_Key, _Act] = {}
        agents: dict[str, int] = {}
        counts = Counter[str]()
        for step in self.steps:
            agent = agents.setdefault(step.agent, len(agents))
            counts[step.agent] += 1
            for place, act in enumerate(step.acts):
                found = payloads.get(act.result_id or 0)
                result = (
                    normalise_result(found)
                    if isinstance(found, ev.Observation)
                    else None
                )
                key = agent, counts[step.agent], place
                self.acts[key] = _Act(step.number, act.text, act.result.text, result)


def _compare_proofs(
    recorded: Sequence[ev.Event], rerun: Sequence[ev.Event]
) -> list[Difference]:
    then, now = _proofs(recorded), _proofs(rerun)
    names = sorted({*then, *now})
    return [
        Difference(what=name, recorded=then.get(name, ""), rerun=now.get(name, ""))
        for name in names
        if then.get(name) != now.get(name)
    ]


def _proofs(events: Sequence[ev.Event]) -> dict[str, str]:
    """Return the results of the last proof: earlier ones were of another change."""
    starts = [
        n for n, one in enumerate(events) if isinstance(one.payload, ev.ProofStarted)
    ]
    newest = events[starts[-1] :] if starts else events
    evidence = (one.evidence for one in payloads_of(newest, ev.EvidenceRecorded))
    return {f"{one.role.words}: {one.command}": exit_text(one) for one in evidence}


def _compare_ends(
    then: _ComparedRun, now: _ComparedRun
) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Compare the outcomes, except one with a cause outside the run."""
    recorded, rerun = _ending(then.outcome), _ending(now.outcome)
    if recorded == rerun:
        return (), ()
    is_over = now.outcome and now.outcome.reason == ReplayEndedError.reason
    if is_over and (then.outcome is None or then.outcome.kind in _FROM_OUTSIDE):
        note = f"The end of the recorded run cannot be repeated: {recorded}."
        return (), (note,)
    return (Difference(what="outcome", recorded=recorded, rerun=rerun),), ()


def _ending(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not ended"
    reason = f" ({outcome.reason})" if outcome.reason else ""
    return f"{outcome.kind}{reason}, {outcome.proof}"
