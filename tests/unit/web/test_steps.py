"""The log of a run as steps, and what they cost."""

from datetime import UTC, datetime, timedelta

from patchwright.core.events.actions import ChangeState, Delegate, Message, RunCommand
from patchwright.core.events.observations import (
    CommandOutput,
    ConfirmationAsked,
    DelegateResult,
    ModelCalled,
    ModelReply,
    OutcomeReached,
    PlanApproved,
    RequestBlocked,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Risk, Source, ToolCall
from patchwright.core.events.types import Event, Known
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import ASKED, Outcome, Usage
from patchwright.workers.runs.reader import RunDigest
from patchwright.workers.web.run_page.steps import (
    LogStep,
    LogStepReader,
    Part,
    read_steps,
    whole_steps,
)
from patchwright.workers.web.run_page.views import cost_plot

AT = datetime(2030, 1, 1, tzinfo=UTC)


def log(*payloads: Known) -> list[Event]:
    return [
        Event(id=n, at=AT + timedelta(seconds=n), source=Source.AGENT, payload=one)
        for n, one in enumerate(payloads, start=1)
    ]


def reply(text: str = "", agent: str = "", cost_usd: float | None = 0.1) -> ModelReply:
    calls = (ToolCall(id="a", name="shell", arguments="{}"),)
    return ModelReply(
        text=text, agent=agent, tool_calls=calls, usage=Usage(cost_usd=cost_usd)
    )


def digest(events: list[Event]) -> RunDigest:
    return RunDigest().with_events(events)


def ran(call_id: str, agent: str = "") -> RunCommand:
    return RunCommand(command=f"run {call_id}", call_id=call_id, agent=agent)


def ended(call_id: str, exit_code: int, agent: str = "") -> CommandOutput:
    return CommandOutput(exit_code=exit_code, output="x", call_id=call_id, agent=agent)


def told(parts: tuple[Part, ...]) -> list[str]:
    """Say in a line what each part shows."""
    return [_told(one) for one in parts]


def _told(part: Part) -> str:
    if not isinstance(part, LogStep):
        return part.entry.title
    acts = [
        f"{one.entry.subject}={one.result.title if one.result else '?'}"
        for one in part.acts
    ]
    mark = "+" if part.is_open else "-"
    return f"{mark} {part.number} {part.reply.title}: {', '.join(acts)}"


def test_a_step_is_a_reply_its_acts_and_their_results() -> None:
    events = log(
        StateChanged(state=AgentState.RUNNING),
        reply("I look."),
        ran("a"),
        ran("b"),
        ended("b", 0),
        Message(text="Hello"),
        ended("a", 2),
        reply("I wait."),
        ran("c"),
    )
    assert told(read_steps(events, 4, newest_is_open=False)) == [
        "Working",
        "+ 5 I look.: run a=exit 2, run b=exit 0",
        "Agent: Hello",
        "- 6 I wait.: run c=?",
    ]
    assert told(read_steps(events, 0, newest_is_open=True))[-1][0] == "+"


def test_the_steps_of_a_delegate_are_its_own() -> None:
    events = log(
        reply("I hand it over."),
        Delegate(task="look", call_id="d"),
        reply("I help.", agent="2"),
        ran("a", agent="2"),
        ended("a", 0, agent="2"),
        DelegateResult(
            outcome=OutcomeKind.ANSWERED, iterations=1, call_id="d", summary="ok"
        ),
    )
    parts = read_steps(events, 0, newest_is_open=False)
    assert told(parts) == [
        "- 1 I hand it over.: =answered after 1 step",
        "- 2 I help.: run a=exit 0",
    ]
    assert [one.last_id for one in parts] == [6, 5]


def test_a_result_without_its_act_is_shown_by_itself() -> None:
    parts = read_steps(log(ended("z", 1), reply("Go on.")), 0, newest_is_open=False)
    assert told(parts) == ["exit 1", "- 1 Go on.: "]


def test_a_step_grows_while_it_is_followed() -> None:
    reader = LogStepReader(0)
    seen = [reader.add(one) for one in log(reply("I look."), ran("a"), ended("a", 0))]
    assert [_told(one) for one in seen if one] == [
        "- 1 I look.: ",
        "- 1 I look.: run a=?",
        "- 1 I look.: run a=exit 0",
    ]
    assert {one.id for one in seen if one} == {1}


def test_a_page_begins_with_a_whole_step() -> None:
    events = log(ended("a", 0), reply(agent="7"), reply("I look."), ran("b"))
    assert [one.id for one in whole_steps(events)] == [3, 4]
    assert [one.id for one in whole_steps(events[:2])] == [1, 2]
    assert digest(events).count_replies(before=3) == 1


def test_the_newest_texts_come_first_where_a_page_has_too_many() -> None:
    output = CommandOutput(exit_code=0, output="word\n" * 2_000, call_id="a")
    steps = [one for _ in range(40) for one in (reply("I look."), ran("a"), output)]
    parts = read_steps(log(*steps), 0, newest_is_open=False)
    blocks = [
        one.acts[0].result.block
        for one in parts
        if isinstance(one, LogStep) and one.acts[0].result
    ]
    sizes = [len(one.text) for one in blocks if one]
    assert len(sizes) == 40
    assert sizes == sorted(sizes)
    assert sizes[-1] > 7_000
    assert sizes[0] < 500
    assert sum(sizes) < 110_000
    assert all(one.is_cut for one in blocks if one)


# Their cost


def test_a_step_costs_its_reply_and_the_calls_until_the_next_one() -> None:
    beside = ModelCalled(role="condense", usage=Usage(cost_usd=0.5))
    events = log(beside, reply(), reply(cost_usd=None), beside, reply())
    assert digest(events).cost_by_step == (0.6, 0.5, 0.1)
    assert digest(log(beside)).cost_by_step == ()


def test_what_is_read_bit_by_bit_says_the_same_as_all_at_once() -> None:
    beside = ModelCalled(role="condense", usage=Usage(cost_usd=0.5))
    blocked = RequestBlocked(
        host="evil.example", port=443, count=2, first_at=AT, last_at=AT
    )
    events = log(beside, reply(), blocked, beside, blocked, reply("a"), reply())
    whole = digest(events)
    assert whole.blocked == {("evil.example", 443): 4}
    assert (whole.summary.steps, whole.last_id) == (3, 7)
    for cut in range(len(events) + 1):
        assert digest(events[:cut]).with_events(events[cut:]) == whole


def test_a_plot_names_what_cost_most() -> None:
    plot = cost_plot((0.1, 0.4, 0.2))
    assert plot.title == "Cost by step: $0.70 in 3 steps"
    assert plot.description == "Step 2 cost most, $0.40."
    assert [(one.title, one.cost, one.total, one.height) for one in plot.bars] == [
        ("Step 1", "$0.10", "$0.10", 30.0),
        ("Step 2", "$0.40", "$0.50", 120.0),
        ("Step 3", "$0.20", "$0.70", 60.0),
    ]


def test_the_plot_of_a_long_run_has_no_more_bars_than_can_be_seen() -> None:
    plot = cost_plot([0.01] * 2_000)
    assert len(plot.bars) == 59
    assert plot.bars[0].title == "Steps 1 to 34"
    assert plot.bars[-1].total == "$20.00"
    assert max(one.x + one.width for one in plot.bars) <= plot.width


def test_without_prices_there_is_no_plot() -> None:
    assert not cost_plot(()).bars
    assert not cost_plot((0.0, 0.0)).bars


def test_what_people_decide_reads_as_sentences() -> None:
    plan = Outcome(kind=OutcomeKind.PLAN_POSTED, reason="plan", waits=True)
    stopped = Outcome(kind=OutcomeKind.STOPPED, reason=ASKED)
    events = log(
        ConfirmationAsked(action={}, digest="d", risk=Risk.LOW),
        OutcomeReached(outcome=plan),
        ChangeState(state=AgentState.USER_CONFIRMED, reason="@bob"),
        PlanApproved(text="Go on."),
        ChangeState(state=AgentState.STOPPED, reason="@ann"),
        StateChanged(state=AgentState.STOPPED, reason=ASKED),
        OutcomeReached(outcome=stopped),
    )
    assert told(read_steps(events, 0, newest_is_open=False)) == [
        "Asks before a low-risk action",
        "Run waits: Plan",
        "@bob approves",
        "Plan approved",
        "@ann wants it stopped",
        "Stopped",
        "Run ended: Stopped",
    ]
