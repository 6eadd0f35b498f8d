"""What to do next, for every way in which a run can end or wait."""

import re
from typing import Final

from patchwright.core.text.money import dollars
from patchwright.core.types.work import Limits, Outcome, OutcomeKind, Proof
from patchwright.resolver.messages.refusals import refusal_words
from patchwright.resolver.messages.status import DeliveryResult

_NUMBERED: Final = re.compile(r"^ {0,3}(\d{1,2})[.)] +\S", re.MULTILINE)
_FEWEST_CHOICES: Final = 2


def next_step(
    outcome: Outcome, delivered: DeliveryResult, handle: str, limits: Limits
) -> str:
    """Say in a sentence what the reader can do, or return nothing where all is done."""
    if delivered.refusal:
        is_advised = refusal_words(delivered.refusal) != delivered.refusal
        return "" if delivered.compare_url or is_advised else _AFTER_REFUSAL
    if outcome.waits:
        return _how_to_answer(outcome, handle)
    if outcome.kind is OutcomeKind.RESOLVED and outcome.proof is not Proof.PROVEN:
        return "Look at the change with care: nothing but its author vouches for it."
    advice = _ADVICE_BY_REASON.get(outcome.reason) or _ADVICE.get(outcome.kind, "")
    return advice.format(
        handle=handle,
        cost=dollars(limits.max_cost_usd),
        steps=limits.max_iterations,
        tokens=f"{limits.max_tokens:,}",
        minutes=f"{limits.max_minutes:g}",
    )


def choices(text: str) -> tuple[int, ...]:
    """Return the numbers of the choices that a question offers, from 1 up."""
    numbers = [int(found) for found in _NUMBERED.findall(text)]
    is_list = numbers == list(range(1, len(numbers) + 1))
    return tuple(numbers) if is_list and len(numbers) >= _FEWEST_CHOICES else ()


def _how_to_answer(outcome: Outcome, handle: str) -> str:
    if known := _ANSWERS.get(outcome.reason):
        return known.format(handle=handle)
    numbers = choices(outcome.summary)
    if not numbers:
        return f"It goes on when you answer here: `{handle}` and your words."
    *first, last = (f"`{handle} {number}`" for number in numbers)
    return (
        f"Answer {', '.join(first)} or {last}, or say after `{handle}` in your own "
        "words what you want. It goes on then, and costs nothing until then."
    )


_ANSWERS: Final = {
    "confirmation": "Answer `{handle} approve` or `{handle} reject`; any other word to "
    "`{handle}` counts as a no, and is read.",
    "plan": "`{handle} approve` has it carried out, `{handle} reject` ends it; or say "
    "after `{handle}` what should be different.",
    "paused": "`{handle} resume` lets it go on, `{handle} stop` ends it.",
}
_AFTER_REFUSAL: Final = "Change that rule or the bot's rights, then ask again."
_AGAIN: Final = "ask again with `{handle}`."
_NEXT_DAY: Final = "or ask again tomorrow (UTC) with `{handle}`."
_ADVICE_BY_REASON: Final = {
    "protected-paths": "If the change is right, take it over from there, or let the "
    f"bot change these paths and {_AGAIN}",
    "budget-of-person": f"Raise `limits.per_user_day_usd`, {_NEXT_DAY}",
    "budget-of-repository": f"Raise `limits.per_repo_day_usd`, {_NEXT_DAY}",
    "budget-of-day": f"Raise `limits.per_day_usd`, {_NEXT_DAY}",
    "price-unknown": "Tell what the model costs in `llm.input_cost_per_token` and "
    f"`llm.output_cost_per_token`, then {_AGAIN}",
    "tokens": "Raise `limits.max_tokens`, which is {tokens} now, or narrow the "
    f"request, then {_AGAIN}",
}
_ADVICE: Final = {
    OutcomeKind.NEEDS_INPUT: f"Answer here and {_AGAIN}",
    OutcomeKind.PLAN_POSTED: "`{handle} approve` has it carried out; say after "
    "`{handle}` what should be different.",
    OutcomeKind.OVER_BUDGET: "Raise `limits.max_cost_usd`, which is {cost} now, or "
    f"narrow the request, then {_AGAIN}",
    OutcomeKind.OVER_LIMIT: "Raise the limit, which is {steps} steps now, or narrow "
    f"the request, then {_AGAIN}",
    OutcomeKind.TIMED_OUT: "Raise `limits.max_minutes`, which is {minutes} now, or "
    f"narrow the request, then {_AGAIN}",
    OutcomeKind.STUCK: f"Add what could help it on, then {_AGAIN}",
    OutcomeKind.STOPPED: f"To go on, {_AGAIN}",
    OutcomeKind.FAILED: "When the cause is removed, `{handle} retry` tries again.",
}
