"""What a run waits for, in words for those who watch it."""

import math
from datetime import datetime, timedelta
from typing import assert_never

from patchwright.core.events.observations import ProviderWait, StateChanged, WaitCause


def wait_words(changed: StateChanged, now: datetime) -> str:
    """Say what a run waits for that asks its model again later; `until` is set."""
    until = changed.until
    if until is None:
        return "Waiting for the model's provider"
    wait = changed.wait
    if wait is None or wait.cause is WaitCause.RATE_LIMITED:
        # A log from before the reason was written down says only until when.
        why = "Rate-limited by the provider" if wait else "Waiting for the provider"
        return f"{why}, resuming at {_next_minute(until):%H:%M} UTC"
    return f"{_trouble(wait)}. {_next_try(wait, until, now)}"


def _trouble(wait: ProviderWait) -> str:
    model = _model(wait)
    detail = f" ({wait.detail})" if wait.detail else ""
    match wait.cause:
        case WaitCause.UNREACHABLE:
            return f"Cannot reach {model}{detail}"
        case WaitCause.OVERLOADED:
            return f"The provider is overloaded{detail}"
        case WaitCause.NO_ANSWER | WaitCause.RATE_LIMITED:
            return f"No usable answer from {model}{detail}"
        case _:
            assert_never(wait.cause)


def _model(wait: ProviderWait) -> str:
    if wait.host:
        return f"the model at {wait.host}"
    return f"the model {wait.model}" if wait.model else "the model"


def _next_try(wait: ProviderWait, until: datetime, now: datetime) -> str:
    """Return when it is tried again: in how long from `now`, and how often so far."""
    of = f" of {wait.most_tries}" if wait.most_tries else ""
    number = f", try {wait.next_try}{of}" if wait.next_try else ""
    left_s = math.ceil((until - now).total_seconds())
    return f"Retrying in {left_s} s{number}" if left_s > 0 else f"Retrying{number}"


def _next_minute(moment: datetime) -> datetime:
    """Round up, so that nobody looks for a run that goes on before it does."""
    whole = moment.replace(second=0, microsecond=0)
    return whole if whole == moment else whole + timedelta(minutes=1)
