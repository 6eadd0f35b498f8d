"""Tell a command from a request."""

import re
from enum import StrEnum

from patchwright.core.types.base import Value


class Verb(StrEnum):
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    STATUS = "status"
    PLAN = "plan"
    APPROVE = "approve"
    REJECT = "reject"
    COST = "cost"
    BUDGET = "budget"
    WHY = "why"
    HELP = "help"


class BotCommand(Value):
    """A verb and what was said with it: a plan's subject, a reason, an amount.

    An amount with a plus comes on top of what is allowed. `fault` says what is wrong
    with a command that cannot be followed.
    """

    verb: Verb
    argument: str = ""
    fault: str = ""


_COURTESY = frozenset(
    {"please", "pls", "now", "again", "thanks", "thank", "you"}
    | {"it", "this", "that", "the", "run", "job", "work"}
)
_TAKES_TEXT = frozenset({Verb.PLAN, Verb.RETRY})
_TAKES_REASON = frozenset({Verb.STOP, Verb.PAUSE, Verb.APPROVE, Verb.REJECT})
_FIRST_WORD = re.compile(r"\W*([A-Za-z]+)\b(?!-)")
_AMOUNT = re.compile(
    r"\s+(\+?)\s?\$?(\d{1,6}(?:\.\d{1,4})?)\s*(?:\$|usd|dollars?)?[.!]?\Z",
    re.IGNORECASE,
)
_LONGEST_AMOUNT = 3
NO_AMOUNT = (
    "`budget` takes an amount in US dollars: `budget +AMOUNT` allows that much more, "
    "`budget AMOUNT` that much in all."
)
_REASON = re.compile(r"\s*[,:;.!–—-]\s*(?=\S)")  # noqa: RUF001 - dashes as people type


def parse_command(request: str) -> BotCommand | None:
    """Return the command, or None when the text is a request.

    A command stands alone but for a courtesy ("stop it, please"), so that "help me with
    the parser" and "stop the server from crashing" stay requests. `plan` and `retry`
    take a text; `stop`, `pause`, `approve` and `reject` a reason after a comma or
    colon; `budget` an amount in US dollars, and says so when there is none.
    """
    found = _FIRST_WORD.match(request)
    if found is None or found[1].lower() not in set(Verb):
        return None
    verb = Verb(found[1].lower())
    rest = request[found.end() :]
    if verb is Verb.BUDGET:
        return _budget(rest)
    if set(re.findall(r"\w+", rest.lower())) <= _COURTESY:
        return BotCommand(verb=verb)
    if verb in _TAKES_TEXT:
        return BotCommand(verb=verb, argument=rest.strip(" \t\n,:;.!-"))
    if verb in _TAKES_REASON and (pause := _REASON.match(rest)):
        return BotCommand(verb=verb, argument=rest[pause.end() :].strip())
    return None


def _budget(rest: str) -> BotCommand | None:
    amount = _AMOUNT.match(rest)
    if amount is not None and float(amount[2]) > 0:
        return BotCommand(verb=Verb.BUDGET, argument=f"{amount[1]}{amount[2]}")
    words = re.findall(r"[\w.,]+", rest.lower())
    is_number = any(map(str.isdigit, rest)) and len(words) <= _LONGEST_AMOUNT
    if is_number or set(words) <= _COURTESY:
        return BotCommand(verb=Verb.BUDGET, argument=rest.strip(), fault=NO_AMOUNT)
    return None
