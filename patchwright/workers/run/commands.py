"""Answer commands that need no run."""

from typing import assert_never

from patchwright.core.text.commands import Verb, parse_command
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind


def answer_command(trigger: Trigger, handle: str) -> Outcome | None:
    """Return the answer to a command in a thread without a run, or None for a request.

    `retry` is a request: the thread as it is now is worked on again.
    """
    command = parse_command(trigger.request)
    if command is None:
        return None
    match command.verb:
        case Verb.RETRY:
            return None
        case Verb.HELP:
            text = _HELP.format(handle=handle)
        case Verb.PLAN:
            text = f"`{command.verb}` is not available in this version."
        case (
            Verb.STOP
            | Verb.PAUSE
            | Verb.RESUME
            | Verb.STATUS
            | Verb.APPROVE
            | Verb.REJECT
            | Verb.COST
            | Verb.BUDGET
            | Verb.WHY
        ):
            text = "Nothing is running in this thread."
        case _:
            assert_never(command.verb)
    return Outcome(kind=OutcomeKind.ANSWERED, reason=command.verb, summary=text)


_HELP = """Write `{handle}` and what you want done, anywhere in a comment or in the \
opening text. While a run works, what you write after `{handle}` reaches it.

- `{handle} stop` ends the run and keeps its work; `pause` and `resume` hold it up.
- `{handle} approve` and `{handle} reject` answer when it asks whether to do something.
- `{handle} budget +2` allows the run two more dollars.
- `{handle} retry` works on this thread again.
- `{handle} help` shows this."""
