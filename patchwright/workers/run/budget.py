"""Work out how much more money a person allows a run."""

from patchwright.core.text.commands import Command
from patchwright.core.text.money import dollars
from patchwright.resolver.messages.answers import Standing


def more_money(command: Command, run: Standing) -> float | str:
    """Return the US dollars to add, or say why there are none.

    An amount without a plus is what the run may cost in all; it is never lowered.
    """
    if command.fault:
        return command.fault
    if run.task is None:
        return "The run has not begun yet. Say it again when it works."
    amount = float(command.argument.removeprefix("+"))
    if command.argument.startswith("+"):
        return amount
    allowed = run.progress.allowed(run.frame.limits).max_cost_usd
    if amount > allowed:
        return amount - allowed
    return (
        f"The run may cost {dollars(allowed)} already. `budget +2` allows two dollars "
        "more."
    )
