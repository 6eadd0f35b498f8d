"""How a run can end; light, since the command line offers it as a choice."""

from enum import StrEnum


class OutcomeKind(StrEnum):
    """How a task ended; the same words in the CLI, the API and every message."""

    RESOLVED = "resolved"
    ANSWERED = "answered"
    NO_CHANGE = "no-change"
    NEEDS_INPUT = "needs-input"
    PLAN_POSTED = "plan-posted"
    REFUSED = "refused"
    OVER_BUDGET = "over-budget"
    OVER_LIMIT = "over-limit"
    TIMED_OUT = "timed-out"
    STUCK = "stuck"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_success(self) -> bool:
        """Tell whether who asked has got what they wanted."""
        return self in (self.RESOLVED, self.ANSWERED, self.PLAN_POSTED)
