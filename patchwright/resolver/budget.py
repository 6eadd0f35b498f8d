"""How much people may add to what a run may cost."""

import math
from collections.abc import Callable

from patchwright.core.commands import NO_AMOUNT, BotCommand
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.text.strings import dollars
from patchwright.resolver.messages.answers import RunStatus, how_to_raise


def max_raise_usd_of(limits: LimitSettings) -> float:
    """Return how much people who may write add to a run of these limits at most."""
    raised = limits.max_raise_usd
    return limits.max_cost_usd if raised is None else raised


def compute_raise(
    command: BotCommand,
    run: RunStatus,
    *,
    most_usd: float,
    is_admin: Callable[[], bool],
) -> float | str:
    """Return the US dollars to add, or say why there are none.

    An amount without a plus is what the run may cost in all; it is never lowered. What
    was added together with what is added passes `most_usd` only where an admin says so.
    """
    wanted = _wanted(command, run)
    if isinstance(wanted, str):
        return wanted
    left_usd = most_usd - run.progress.more_cost_usd
    # Sums of floats are not exact, and nobody allows less than a millionth.
    if round(wanted - left_usd, 6) <= 0 or is_admin():
        return wanted
    return (
        f"{dollars(wanted)} more would be too much: people who may write add at most "
        f"{dollars(most_usd)} to a run (`limits.max_raise_usd`), and "
        f"{dollars(max(0.0, left_usd))} of that is left. An admin of the repository "
        "can add more."
    )


def _wanted(command: BotCommand, run: RunStatus) -> float | str:
    if command.fault:
        return command.fault
    if run.task is None:
        return "The run has not begun yet. Say it again when it works."
    amount = float(command.argument.removeprefix("+"))
    if not math.isfinite(amount) or amount <= 0:
        return NO_AMOUNT
    if command.argument.startswith("+"):
        return amount
    allowed = run.progress.allowed(run.frame.limits).max_cost_usd
    if amount > allowed:
        return amount - allowed
    return f"The run may cost {dollars(allowed)} already. {how_to_raise(run)}"
