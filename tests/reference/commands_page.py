"""Write `docs/commands.md`, the reference of what people may say to a run."""

from typing import Final, assert_never

from patchwright.core.commands import (
    AnswerQuestion,
    CommandAccess,
    CommandArgument,
    CommandDefinition,
    NothingToDo,
    RaiseBudget,
    SetState,
    ShowHelp,
    StartRun,
    TellLastRun,
    Verb,
    definition_of,
    help_text,
)
from patchwright.core.events.payload import AgentState

_ABOUT: Final = """\
# Commands

A command stands after the mention, in every service. It stands alone but for a
courtesy (`stop it, please`); anything else is a request, and while a run works that
reaches the agent. This is what `help` shows:
"""
_TABLE: Final = """\
| command | what may follow | while a run works | while none works | who may |
|---|---|---|---|---|"""


def page() -> str:
    quoted = [f"> {line}".rstrip() for line in help_text("@patchwright").splitlines()]
    rows = [_row(verb, definition_of(verb)) for verb in Verb]
    return "\n".join([_ABOUT, *quoted, "", _TABLE, *rows]) + "\n"


def _row(verb: Verb, command: CommandDefinition) -> str:
    cells = (
        f"`{verb}`",
        _argument(command.argument),
        _while_running(command),
        _when_idle(command),
        _access(command.access),
    )
    return f"| {' | '.join(cells)} |"


def _argument(argument: CommandArgument) -> str:
    match argument:
        case CommandArgument.NOTHING:
            return "nothing"
        case CommandArgument.REASON:
            return "a reason, after a comma or colon"
        case CommandArgument.REQUEST:
            return "a request"
        case CommandArgument.AMOUNT:
            return "US dollars: `+2` more, `2` in all"
        case _:
            assert_never(argument)


def _while_running(command: CommandDefinition) -> str:
    match command.while_running:
        case SetState(state=state, answers_confirmation=True):
            return f"the plan or action that waits is {state.removeprefix('user-')}"
        case SetState(state=AgentState.RUNNING):
            return "the run goes on"
        case SetState(state=state):
            return f"the run is {state}"
        case AnswerQuestion():
            return "answered"
        case RaiseBudget():
            return (
                "the run may cost more, up to `limits.max_raise_usd`; admins of the "
                "repository may go beyond"
            )
        case _:
            assert_never(command.while_running)


def _when_idle(command: CommandDefinition) -> str:
    match command.when_idle:
        case StartRun():
            return "starts a run"
        case TellLastRun():
            return "tells of the last run"
        case ShowHelp():
            return "answered"
        case NothingToDo():
            return "nothing"
        case _:
            assert_never(command.when_idle)


def _access(access: CommandAccess) -> str:
    match access:
        case CommandAccess.ANYONE:
            return "everybody, where no run works"
        case CommandAccess.WHO_MAY_START_RUNS:
            return "who may start runs"
        case _:
            assert_never(access)
