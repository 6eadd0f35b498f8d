"""Who reads a message, and what people who only make requests read of some faults.

Whoever makes a request cannot change the settings of the service. They read whom to
ask; the run's log, `patchwright runs show` and the service's own log have the cause.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome


class Reader(StrEnum):
    """Whether readers can change the settings: so it is with the Action and the CLI."""

    REQUESTER = "requester"
    OPERATOR = "operator"


def for_reader(outcome: Outcome, reader: Reader) -> Outcome:
    """Return an outcome whose own text is about nothing that the reader cannot see."""
    text = _TEXTS.get(outcome.reason, "")
    is_ours = bool(text and outcome.own_text)
    if reader is Reader.OPERATOR or not is_ours:
        return outcome
    summary = f"{text}\n\n{outcome.agent_text}".strip()
    return outcome.replace(summary=summary, service_text=text)


def requester_advice(outcome: Outcome) -> str:
    """Return what a requester can do about what only an operator can change.

    It is a template as that of `OutcomeDisplay`; empty where the usual advice helps.
    """
    return _BY_REASON.get(outcome.reason) or _BY_KIND.get(outcome.kind, "")


def requester_words(rule: str) -> str:
    """Return what helps against a refusal of the forge; empty for the usual advice."""
    return _BY_RULE.get(rule, "")


_ASK: Final = "Ask whoever runs this Patchwright to"
_RETRY: Final = "then reply `{handle} retry`."
_NARROWER: Final = "Narrow the request and ask again with `{handle}`, or ask whoever "
_ALLOW: Final = f"{_NARROWER}runs this Patchwright to allow more than "
_TOMORROW: Final = "Ask again tomorrow (UTC) with `{handle}`, or ask whoever runs "
_TEXTS: Final[Mapping[str, str]] = {
    "disk-full": "The service has too little free disk space, so nothing was started.",
    "model-credential": "The service's model key was refused.",
    "model-request": "The model's provider refused the request of this service.",
    "model-unavailable": "The model's provider gave no usable answer.",
    "price-unknown": "The service does not know the price of its model, and so does "
    "not use it.",
    "sandbox": "The service could not start or use a sandbox.",
    "too-many-runs": "This thread has had as many runs within an hour as this service "
    "allows. Ask again later.",
}
_BY_REASON: Final[Mapping[str, str]] = {
    "bad-credential": f"{_ASK} check its access to this repository, {_RETRY}",
    "budget-of-day": f"{_TOMORROW}this Patchwright to allow more a day.",
    "budget-of-person": f"{_TOMORROW}this Patchwright to allow you more a day.",
    "budget-of-repository": (
        f"{_TOMORROW}this Patchwright to allow this repository more a day."
    ),
    "disk-full": f"{_ASK} free disk space, {_RETRY}",
    "forbidden": f"{_ASK} check its access to this repository, {_RETRY}",
    "internal": f"{_ASK} look at this run in its log, {_RETRY}",
    "model-credential": f"{_ASK} check the key, {_RETRY}",
    "model-request": f"{_ASK} check the name of the model, {_RETRY}",
    "model-unavailable": (
        "Reply `{handle} retry` later. If it happens again, ask whoever runs this "
        "Patchwright to check the model."
    ),
    "price-unknown": f"{_ASK} set the price, {_RETRY}",
    "sandbox": f"{_ASK} check its sandbox, {_RETRY}",
    "tokens": f"{_ALLOW}{{tokens}} tokens.",
    "worker-lost": f"{_ASK} look at this run in its log, {_RETRY}",
}
_BY_KIND: Final[Mapping[OutcomeKind, str]] = {
    OutcomeKind.OVER_BUDGET: f"{_ALLOW}{{cost}} for a run.",
    OutcomeKind.OVER_LIMIT: f"{_ALLOW}{{steps}} steps.",
    OutcomeKind.TIMED_OUT: f"{_ALLOW}{{minutes}} minutes.",
}
# By the rules that `advice` knows.
_BY_RULE: Final[Mapping[str, str]] = {
    "commits must be signed": f"{_ASK} sign its commits.",
    "the bot's credential is no longer valid": f"{_ASK} renew its credential.",
}
