"""The commands that people give after a mention: each is defined once, here."""

import re
from enum import StrEnum
from typing import Final, Literal, assert_never

from patchwright.core.events.payload import AgentState
from patchwright.core.types.base import Value


class Verb(StrEnum):
    """The word of each command, in the order of the help comment."""

    PLAN = "plan"
    APPROVE = "approve"
    REJECT = "reject"
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    BUDGET = "budget"
    STATUS = "status"
    COST = "cost"
    WHY = "why"
    RETRY = "retry"
    HELP = "help"


class BotCommand(Value):
    """A verb and what was said with it: a plan's subject, a reason, an amount.

    An amount with a plus comes on top of what is allowed. `fault` says what is wrong
    with a command that cannot be followed.
    """

    verb: Verb
    argument: str = ""
    fault: str = ""


class CommandArgument(StrEnum):
    """What may follow the word of a command, in the words of the reference."""

    NOTHING = "nothing"
    REASON = "a reason, after a comma or colon"
    REQUEST = "a request"
    AMOUNT = "US dollars: `+2` more, `2` in all"


class CommandAccess(StrEnum):
    """Whose command counts once a thread has had a run, in those words."""

    ANYONE = "everybody, if no run works"
    WHO_MAY_START_RUNS = "people who may start runs"


Question = Literal[Verb.STATUS, Verb.COST, Verb.WHY, Verb.PLAN, Verb.HELP]


class SetState(Value):
    """Bring the run into a state.

    With `answers_confirmation` it is about the action that was last shown, and no
    other. `words` are those of the reference, as everywhere below.
    """

    state: AgentState
    answers_confirmation: bool = False
    words: str


class AnswerQuestion(Value):
    question: Question
    words: str = "answered"


class RaiseBudget(Value):
    words: str = (
        "the run may cost more, up to `limits.max_raise_usd`; admins of the "
        "repository may allow more"
    )


class StartRun(Value):
    """The command is a request: the thread as it is now is worked on."""

    words: str = "starts a run"


class TellLastRun(Value):
    question: Question
    words: str = "shows the last run"


class ShowHelp(Value):
    words: str = "answered"


class NothingToDo(Value):
    """The command needs a run, and none works."""

    words: str = "nothing"


WhileRunning = SetState | AnswerQuestion | RaiseBudget
WhenIdle = StartRun | TellLastRun | ShowHelp | NothingToDo


class CommandDefinition(Value):
    """All that is particular to one command.

    `help` is its line in the help comment, in which `{handle}` calls the bot; commands
    that share a line have the same one. A request that follows the word goes to a run
    that works as a message: `while_running` is about the word alone.
    """

    help: str
    argument: CommandArgument
    access: CommandAccess
    while_running: WhileRunning
    when_idle: WhenIdle


def definition_of(verb: Verb) -> CommandDefinition:  # noqa: C901, PLR0912 - an arm each
    match verb:
        case Verb.PLAN:
            return _PLAN
        case Verb.APPROVE:
            return _APPROVE
        case Verb.REJECT:
            return _REJECT
        case Verb.STOP:
            return _STOP
        case Verb.PAUSE:
            return _PAUSE
        case Verb.RESUME:
            return _RESUME
        case Verb.BUDGET:
            return _BUDGET
        case Verb.STATUS:
            return _question(Verb.STATUS)
        case Verb.COST:
            return _question(Verb.COST)
        case Verb.WHY:
            return _question(Verb.WHY)
        case Verb.RETRY:
            return _RETRY
        case Verb.HELP:
            return _HELP
        case _:
            assert_never(verb)


_HELP_ON_ANSWERS: Final = (
    "`{handle} approve` (or `confirm`) / `reject`: answer a request for approval."
)
_HELP_ON_HOLDING: Final = (
    "`{handle} stop`: end the run and keep its work. `pause` / `resume`: pause and "
    "continue the run."
)
_HELP_ON_QUESTIONS: Final = (
    "`{handle} status` / `cost` / `why`: show the progress, the cost, and why the run "
    "started or how it ended."
)


def _control(
    help_line: str,
    while_running: SetState,
    argument: CommandArgument = CommandArgument.REASON,
) -> CommandDefinition:
    """Return a command that brings a run into a state, and does nothing without one."""
    return CommandDefinition(
        help=help_line,
        argument=argument,
        access=CommandAccess.WHO_MAY_START_RUNS,
        while_running=while_running,
        when_idle=NothingToDo(),
    )


def _question(question: Question) -> CommandDefinition:
    """Return a command that asks about the run that works, or else about the last."""
    return CommandDefinition(
        help=_HELP_ON_QUESTIONS,
        argument=CommandArgument.NOTHING,
        access=CommandAccess.WHO_MAY_START_RUNS,
        while_running=AnswerQuestion(question=question),
        when_idle=TellLastRun(question=question),
    )


_PLAN: Final = CommandDefinition(
    help="`{handle} plan` and your request: show a plan first and wait for approval.",
    argument=CommandArgument.REQUEST,
    access=CommandAccess.WHO_MAY_START_RUNS,
    while_running=AnswerQuestion(question=Verb.PLAN),
    when_idle=StartRun(),
)
_APPROVE: Final = _control(
    _HELP_ON_ANSWERS,
    SetState(
        state=AgentState.USER_CONFIRMED,
        answers_confirmation=True,
        words="the waiting plan or action is approved",
    ),
)
_REJECT: Final = _control(
    _HELP_ON_ANSWERS,
    SetState(
        state=AgentState.USER_REJECTED,
        answers_confirmation=True,
        words="the waiting plan or action is rejected",
    ),
)
_STOP: Final = _control(
    _HELP_ON_HOLDING, SetState(state=AgentState.STOPPED, words="the run is stopped")
)
_PAUSE: Final = _control(
    _HELP_ON_HOLDING, SetState(state=AgentState.PAUSED, words="the run is paused")
)
_RESUME: Final = _control(
    _HELP_ON_HOLDING,
    SetState(state=AgentState.RUNNING, words="the run continues"),
    CommandArgument.NOTHING,
)
_BUDGET: Final = CommandDefinition(
    help="`{handle} budget +2`: raise the budget of the run by $2. `budget 5`: raise "
    "it to $5.",
    argument=CommandArgument.AMOUNT,
    access=CommandAccess.WHO_MAY_START_RUNS,
    while_running=RaiseBudget(),
    when_idle=NothingToDo(),
)
_RETRY: Final = CommandDefinition(
    help="`{handle} retry`: work on this thread again.",
    argument=CommandArgument.REQUEST,
    access=CommandAccess.WHO_MAY_START_RUNS,
    while_running=SetState(state=AgentState.RUNNING, words="the run continues"),
    when_idle=StartRun(),
)
_HELP: Final = CommandDefinition(
    help="`{handle} help`: show this help.",
    argument=CommandArgument.NOTHING,
    access=CommandAccess.ANYONE,
    while_running=AnswerQuestion(question=Verb.HELP),
    when_idle=ShowHelp(),
)
_ABOUT_HELP: Final = (
    "Mention `{handle}` with your request, for example: `{handle} fix the failing "
    "test`. While a run works, what you write after `{handle}` goes to the run. While "
    "it waits for you, a plain reply is enough."
)


def help_text(handle: str) -> str:
    lines = dict.fromkeys(f"- {definition_of(verb).help}" for verb in Verb)
    return "\n".join((_ABOUT_HELP, "", *lines)).format(handle=handle)


_COURTESY: Final = frozenset(
    {"please", "pls", "now", "again", "thanks", "thank", "you"}
    | {"it", "this", "that", "the", "run", "job", "work"}
)
_GREETINGS: Final = frozenset(
    {"cheers", "hallo", "hello", "hey", "hi", "hiya", "ping", "thank", "thanks", "thx"}
)
_BESIDE_GREETING: Final = _COURTESY | frozenset(
    {"a", "all", "and", "awesome", "bot", "cool", "everyone", "for", "good", "great"}
    | {"lot", "many", "much", "nice", "so", "team", "there", "very", "well", "help"}
    | {"fix", "done"}
)
# Other words for a command: an action is confirmed where a plan is approved.
_SYNONYMS: Final = {"confirm": Verb.APPROVE}
_VERBS: Final = {**{str(verb): verb for verb in Verb}, **_SYNONYMS}
_FIRST_WORD: Final = re.compile(r"\W*([A-Za-z]+)\b(?!-)")
_AMOUNT: Final = re.compile(
    r"\s+(\+?)\s?\$?(\d{1,6}(?:\.\d{1,4})?)\s*(?:\$|usd|dollars?)?[.!]?\Z",
    re.IGNORECASE,
)
_LONGEST_AMOUNT: Final = 3
NO_AMOUNT: Final = (
    "`budget` needs an amount in US dollars: `budget +2` adds $2, `budget 5` makes it "
    "$5 in all."
)
_REASON: Final = re.compile(r"\s*[,:;.!–—-]\s*(?=\S)")  # noqa: RUF001 - dashes as people type


def parse_command(request: str) -> BotCommand | None:
    """Return the command, or None when the text is a request.

    Only polite words may stand beside a command ("stop it, please"), so that "help me
    with the parser" and "stop the server from crashing" stay requests. A reason follows
    a comma or colon; an amount is in US dollars, and it is said when there is none.
    """
    found = _FIRST_WORD.match(request)
    verb = _VERBS.get(found[1].lower()) if found else None
    if found is None or verb is None:
        return None
    rest = request[found.end() :]
    argument = definition_of(verb).argument
    if argument is CommandArgument.AMOUNT:
        return _with_amount(verb, rest)
    if set(re.findall(r"\w+", rest.lower())) <= _COURTESY:
        return BotCommand(verb=verb)
    match argument:
        case CommandArgument.NOTHING:
            return None
        case CommandArgument.REQUEST:
            return BotCommand(verb=verb, argument=rest.strip(" \t\n,:;.!-"))
        case CommandArgument.REASON:
            pause = _REASON.match(rest)
            return (
                BotCommand(verb=verb, argument=rest[pause.end() :].strip())
                if pause
                else None
            )
        case _:
            assert_never(argument)


def is_greeting(request: str) -> bool:
    """Tell whether a text only greets or thanks."""
    words = set(re.findall(r"\w+", request.lower()))
    return bool(words & _GREETINGS) and words <= _GREETINGS | _BESIDE_GREETING


def _with_amount(verb: Verb, rest: str) -> BotCommand | None:
    amount = _AMOUNT.match(rest)
    if amount is not None and float(amount[2]) > 0:
        return BotCommand(verb=verb, argument=f"{amount[1]}{amount[2]}")
    words = re.findall(r"[\w.,]+", rest.lower())
    is_number = any(map(str.isdigit, rest)) and len(words) <= _LONGEST_AMOUNT
    if is_number or set(words) <= _COURTESY:
        return BotCommand(verb=verb, argument=rest.strip(), fault=NO_AMOUNT)
    return None
