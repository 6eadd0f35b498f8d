"""Which labels show how a run goes, next to the one that has started it."""

from patchwright.core.types.base import Value
from patchwright.core.types.work import Outcome, OutcomeKind

_LABEL_WORDS = ("running", "waiting", "done", "failed")
_GOOD = frozenset({OutcomeKind.RESOLVED, OutcomeKind.ANSWERED, OutcomeKind.NO_CHANGE})
_ASKING = frozenset({OutcomeKind.NEEDS_INPUT, OutcomeKind.PLAN_POSTED})


class LabelSwap(Value):
    """What is put on a thread, and what is taken off."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def labels_at_start(label: str) -> LabelSwap:
    """Take off the label that asked, so that it can be put on again to ask again."""
    swap = _label_swap(label, "running")
    return LabelSwap(add=swap.add, remove=(label, *swap.remove))


def labels_at_end(label: str, outcome: Outcome) -> LabelSwap:
    """Say how it ended; what people have stopped is as if it had not been."""
    if outcome.waits or outcome.kind in _ASKING:
        return _label_swap(label, "waiting")
    if outcome.kind is OutcomeKind.STOPPED:
        return _label_swap(label, "")
    return _label_swap(label, "done" if outcome.kind in _GOOD else "failed")


def _label_swap(label: str, word: str) -> LabelSwap:
    """Put one status label on, and the others off."""
    return LabelSwap(
        add=(f"{label}:{word}",) if word else (),
        remove=tuple(f"{label}:{other}" for other in _LABEL_WORDS if other != word),
    )
