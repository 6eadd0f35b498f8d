"""How far a run is, as those who watch it read it."""

from datetime import timedelta
from typing import Any

import pytest

from patchwright.core.events.actions import (
    Finish,
    Message,
    RaiseLimits,
    RunCommand,
    WriteTodos,
)
from patchwright.core.events.observations import (
    ErrorObservation,
    EvidenceRecorded,
    ModelReply,
    OutcomeReached,
    PlanApproved,
    ProofStarted,
    ProviderWait,
    RunStarted,
    StateChanged,
    WaitCause,
)
from patchwright.core.events.payload import AgentState, Source, Todo, ToolCall
from patchwright.core.events.types import Event, Known
from patchwright.core.types.evidence import EvidenceRole, RunStatus
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Task, Usage
from patchwright.resolver.messages.status import (
    ApprovedPlan,
    Progress,
    checklist,
    progress_comment,
)
from patchwright.resolver.progress import ProgressTracker, Throttle
from tests.fakes.clock import START
from tests.unit.resolver.endings import FRAME, GREEN, RED, ended, proven


def watched(*payloads: Known, source: Source = Source.AGENT) -> Progress:
    """Return the progress after these events, one a second."""
    watch, progress = ProgressTracker("docker", START), Progress()
    for second, payload in enumerate(payloads, start=1):
        at = START + timedelta(seconds=second)
        progress = watch.add(Event(id=second, at=at, source=source, payload=payload))
    return progress


RUNNING = StateChanged(state=AgentState.RUNNING)
REPLY = ModelReply(usage=Usage(cost_usd=0.41, tokens_in=10))
ENDS = REPLY.replace(tool_calls=(ToolCall(id="1", name="finish", arguments="{}"),))


def test_before_the_sandbox_is_ready_it_is_prepared() -> None:
    notes = ("1 HTML comment was removed.",)
    task = Task(text="task", base_sha="a" * 40, notes=notes)
    started = RunStarted(run_id="r", task=task, limits=Limits())
    progress = watched(started, Message(text="task"), source=Source.SYSTEM)
    assert (progress.done, progress.doing) == ((), "Preparing the sandbox")
    assert progress.notes == notes


def test_what_the_repository_sets_up_is_shown() -> None:
    progress = watched(RunCommand(command="make deps\nx"), source=Source.SYSTEM)
    assert progress.doing == "Setting up: `make deps`"


def test_each_step_shows_what_is_done_now() -> None:
    progress = watched(RUNNING, REPLY, RunCommand(command="pytest\nls"))
    assert progress.done == ("Repository checked out in a docker sandbox",)
    assert progress.doing == "Step 1: `shell pytest`"
    assert (progress.iterations, progress.usage) == (1, REPLY.usage)
    assert progress.seconds == 3


def waits_for(cause: WaitCause, **facts: Any) -> StateChanged:
    """Return a wait of 18 s, from three seconds after the start."""
    wait = ProviderWait(cause=cause, seconds=18, **facts)
    until = START + timedelta(seconds=21)
    return StateChanged(state=AgentState.RATE_LIMITED, until=until, wait=wait)


@pytest.mark.parametrize(
    ("limited", "words"),
    [
        (
            waits_for(
                WaitCause.UNREACHABLE,
                host="127.0.0.1:1",
                detail="connection refused",
                next_try=4,
                most_tries=8,
            ),
            (
                "Cannot reach the model at 127.0.0.1:1 (connection refused). "
                "Retrying in 18 s, try 4 of 8"
            ),
        ),
        (
            waits_for(WaitCause.UNREACHABLE, model="anthropic/claude-sonnet-4-5"),
            "Cannot reach the model anthropic/claude-sonnet-4-5. Retrying in 18 s",
        ),
        (
            waits_for(WaitCause.RATE_LIMITED, detail="429", next_try=2),
            "Rate-limited by the provider, resuming at 12:01 UTC",
        ),
        (
            waits_for(WaitCause.OVERLOADED, detail="529", next_try=3),
            "The provider is overloaded (529). Retrying in 18 s, try 3",
        ),
        (
            waits_for(WaitCause.NO_ANSWER, host="llm.test", detail="500", next_try=2),
            (
                "No usable answer from the model at llm.test (500). "
                "Retrying in 18 s, try 2"
            ),
        ),
        (
            StateChanged(state=AgentState.RATE_LIMITED, until=START),
            "Waiting for the provider, resuming at 12:00 UTC",
        ),
    ],
)
def test_u3_the_true_reason_for_waiting_is_shown(
    limited: StateChanged, words: str
) -> None:
    assert watched(RUNNING, REPLY, limited).doing == words


def test_the_time_until_the_next_try_goes_on_without_an_event() -> None:
    watch = ProgressTracker("docker", START)
    limited = waits_for(WaitCause.UNREACHABLE, host="llm.test", next_try=2)
    at = START + timedelta(seconds=3)
    watch.add(Event(id=1, at=at, source=Source.SYSTEM, payload=limited))
    later = watch.progress(at + timedelta(seconds=10))
    assert later.doing == ("Cannot reach the model at llm.test. Retrying in 8 s, try 2")
    over = watch.progress(at + timedelta(seconds=30))
    assert over.doing == "Cannot reach the model at llm.test. Retrying, try 2"


def test_s58_waiting_for_the_provider_ends() -> None:
    limited = waits_for(WaitCause.RATE_LIMITED)
    going_on = watched(RUNNING, REPLY, limited, RUNNING)
    assert going_on.doing == "Resuming"
    assert going_on.done == ("Repository checked out in a docker sandbox",)


def test_what_only_looks_like_a_step_is_not_shown_as_one() -> None:
    error = ErrorObservation(reason="x", text="y")
    assert watched(RUNNING, error).doing == "Reading the request"
    said = watched(RUNNING, Message(text="hello"), source=Source.USER)
    assert said.doing == "Reading the request"


def test_the_end_is_proven_and_delivered_before_everyones_eyes() -> None:
    finish = Finish(summary="x", test_commands=("pytest -k sum",))
    evidence = [EvidenceRecorded(evidence=one) for one in (RED, GREEN)]
    before = watched(RUNNING, finish)
    assert before.doing == "Proving it in fresh sandboxes"
    after = watched(RUNNING, finish, *evidence, OutcomeReached(outcome=proven()))
    assert after.then == (
        "Change made",
        "`pytest -k sum` before the change: exit 1",
        "`pytest -k sum` after the change: exit 0",
    )
    assert after.doing == "Delivering"


@pytest.mark.parametrize(
    ("role", "code", "line"),
    [
        (EvidenceRole.BEFORE, 1, "- [x] `pytest -k sum` before the change: exit 1"),
        (EvidenceRole.BEFORE, 0, "- [ ] ❌ `pytest -k sum` before the change: exit 0"),
        (EvidenceRole.AFTER, 0, "- [x] `pytest -k sum` after the change: exit 0"),
        (EvidenceRole.AFTER, 1, "- [ ] ❌ `pytest -k sum` after the change: exit 1"),
        (
            EvidenceRole.AFTER,
            None,
            "- [ ] ❌ `pytest -k sum` after the change: no exit code",
        ),
        (
            EvidenceRole.SUITE_AFTER,
            1,
            (
                "- [x] `pytest -k sum` the repository's own tests, after the change: "
                "exit 1"
            ),
        ),
    ],
)
def test_a_tick_is_for_what_was_hoped_for(
    role: EvidenceRole, code: int | None, line: str
) -> None:
    one = RED.replace(role=role, exit_code=code)
    progress = watched(RUNNING, Finish(summary="x"), EvidenceRecorded(evidence=one))
    assert checklist(progress, FRAME.handle).splitlines()[2] == line


def test_tests_that_could_not_run_are_not_what_was_hoped_for() -> None:
    broken = RED.replace(exit_code=2, status=RunStatus.COLLECTION_ERROR)
    assert watched(RUNNING, EvidenceRecorded(evidence=broken)).missed


def test_parts_that_were_taken_out_are_counted_in_one_line() -> None:
    part = RED.replace(role=EvidenceRole.WITHOUT_PART)
    parts = [EvidenceRecorded(evidence=part)] * 12
    then = watched(RUNNING, EvidenceRecorded(evidence=RED), *parts).then
    assert then[1:] == ("Parts of the change removed in turn: 12",)


def test_without_a_test_command_nothing_is_said_of_proof() -> None:
    progress = watched(RUNNING, Finish(summary="x"))
    assert progress.then == ("Agent finished",)
    assert progress.doing == "Checking the change"


PLAN = WriteTodos(
    todos=(
        Todo(text="Write a test", state="done"),
        Todo(text="Fix the total,\n@patchwright", state="doing"),
        Todo(text="<details>Run all tests"),
    )
)


def test_the_comment_of_a_run_that_works_reads_so() -> None:
    progress = watched(RUNNING, REPLY, RunCommand(command="pytest"))
    assert (
        progress_comment(progress, FRAME)
        == """\
**Working on it** · step 1 of 50 · 3s · $0.41 of $3.00 · reply `@patchwright stop` to \
stop

- [x] Repository checked out in a docker sandbox
- [ ] Step 1: `shell pytest`

<sub>run 7f3a9c1e · requested by alice · thread read at 14:02 UTC · model openai/x</sub>

<!-- patchwright:state=running run=7f3a9c1e000000000000000000000000 -->"""
    )


def test_the_agents_own_plan_stands_where_its_work_does() -> None:
    progress = watched(RUNNING, REPLY, PLAN, REPLY, RunCommand(command="pytest"))
    frame = FRAME.replace(run_url="https://bot.test/runs/7")
    head, plan, now, *_ = progress_comment(progress, frame).split("\n\n")
    assert "· [live log](https://bot.test/runs/7) · reply" in head
    assert (
        plan
        == """\
- [x] Repository checked out in a docker sandbox
- The agent's plan:
  - [x] Write a test
  - [ ] **→** Fix the total, @ patchwright
  - [ ] &lt;details>Run all tests"""
    )
    assert now == "Now: Step 2: `shell pytest`"


def test_the_plan_of_a_delegate_is_not_the_plan() -> None:
    theirs = PLAN.replace(agent="7")
    assert watched(RUNNING, REPLY, theirs).todos == ()


def test_a_long_plan_is_cut() -> None:
    long = WriteTodos(todos=tuple(Todo(text=f"Step {n}") for n in range(40)))
    lines = checklist(watched(RUNNING, REPLY, long), FRAME.handle).splitlines()
    assert lines[-1] == "  - … and 25 more"
    assert len(lines) == 18


def test_a_raised_limit_is_shown() -> None:
    raised = RaiseLimits(iterations=10, cost_usd=2, reason="alice")
    text = progress_comment(watched(RUNNING, REPLY, raised), FRAME)
    assert "step 1 of 60 · 3s · $0.41 of $5.00" in text


def test_what_was_removed_from_the_request_is_told_while_it_runs() -> None:
    progress = Progress(state="running", notes=("1 HTML comment was removed.",))
    assert """\
<details><summary>1 note on the request</summary>

- 1 HTML comment was removed.

</details>""" in progress_comment(progress, FRAME)


def test_a_run_that_waits_for_a_worker_is_queued() -> None:
    text = progress_comment(Progress(), FRAME)
    assert text.startswith("**Queued** · ")
    assert "<!-- patchwright:state=queued run=" in text


def test_where_it_stopped_stays_when_it_was_cut_short() -> None:
    stuck = OutcomeReached(outcome=ended(OutcomeKind.STUCK, "x"))
    progress = watched(RUNNING, REPLY, RunCommand(command="pytest"), stuck)
    assert progress.doing == "Step 1: `shell pytest`"


def test_what_a_run_did_before_a_pause_is_where_a_stop_finds_it() -> None:
    paused = ended(OutcomeKind.NEEDS_INPUT, "Paused.", reason="paused", waits=True)
    stopped = OutcomeReached(outcome=ended(OutcomeKind.STOPPED, "x"))
    run = RunCommand(command="pytest")
    going = (RUNNING, REPLY, run, OutcomeReached(outcome=paused), RUNNING)
    assert watched(*going).doing == "Resuming"
    assert watched(*going, stopped).doing == "Step 1: `shell pytest`"


def test_the_plan_that_was_approved_stays() -> None:
    plan = ended(OutcomeKind.PLAN_POSTED, "Test it.", reason="plan", waits=True)
    yes = StateChanged(state=AgentState.USER_CONFIRMED, reason="@alice")
    approved = PlanApproved(text="Approved.")
    progress = watched(RUNNING, OutcomeReached(outcome=plan), yes, RUNNING, approved)
    assert progress.plan == ApprovedPlan(text="Test it.", by="@alice")
    folded = """\
<details><summary>Plan, approved by @alice</summary>

The agent wrote:

> Test it.

</details>"""
    assert folded in progress_comment(progress, FRAME)
    chat = FRAME.replace(is_chat=True, run_url="https://bot.test/runs/7")
    line = "Plan, approved by @alice: Test it. · [run](https://bot.test/runs/7)"
    assert f"\n\n{line}\n\n" in progress_comment(progress, chat)
    hostile = progress.replace(plan=ApprovedPlan(text="x", by="</details> @all"))
    assert "Plan, approved by a person" in progress_comment(hostile, FRAME)


def test_a_proof_of_what_was_cut_short_does_not_hide_where_it_stopped() -> None:
    stuck = OutcomeReached(outcome=ended(OutcomeKind.STUCK, "x"))
    begun = ProofStarted(head_sha="a" * 40)
    green = EvidenceRecorded(evidence=GREEN)
    run = RunCommand(command="pytest")
    progress = watched(RUNNING, REPLY, run, begun, green, stuck)
    assert progress.doing == "Step 1: `shell pytest`"
    assert progress.then[0] == "Agent finished"
    proving = watched(RUNNING, REPLY, run, ENDS, begun, stuck)
    assert proving.doing == "Proving it in fresh sandboxes"
    assert proving.then == ("Change made",)


def test_time_that_a_person_lets_pass_does_not_count() -> None:
    asked = StateChanged(state=AgentState.AWAITING_USER_INPUT)
    assert watched(RUNNING, asked, RUNNING).seconds == 2


def test_time_goes_on_while_nothing_happens() -> None:
    watch = ProgressTracker("docker", START)
    watch.add(Event(id=1, at=START, source=Source.SYSTEM, payload=RUNNING))
    assert watch.progress(START + timedelta(seconds=42)).seconds == 42


def test_the_newest_progress_is_shown_now_and_then() -> None:
    shown: list[int] = []
    moments = iter([0.0, 1.0, 4.9, 5.0, 6.0])
    throttle = Throttle(
        lambda progress: shown.append(progress.iterations), lambda: next(moments), 5.0
    )
    for number in range(5):
        throttle.offer(Progress(iterations=number))
    assert shown == [0, 3]


def test_what_must_be_seen_now_does_not_wait_for_its_turn() -> None:
    shown: list[int] = []
    throttle = Throttle(lambda one: shown.append(one.iterations), lambda: 0.0, 4.0)
    throttle.offer(Progress(iterations=1))
    throttle.offer(Progress(iterations=2))
    throttle.offer(Progress(iterations=3), at_once=True)
    assert shown == [1, 3]


def test_a_run_of_the_old_tests_is_told_in_words() -> None:
    old = GREEN.replace(role=EvidenceRole.BASE_TESTS)
    progress = watched(RUNNING, EvidenceRecorded(evidence=old))
    assert progress.then == (
        "`pytest -k sum` after the change, with the tests of the base: exit 0",
    )


def test_a_new_proof_takes_the_place_of_an_earlier_one() -> None:
    begun = ProofStarted(head_sha="a" * 40)
    green_before = EvidenceRecorded(evidence=GREEN.replace(role=EvidenceRole.BEFORE))
    short = watched(RUNNING, begun, green_before)
    assert short.doing == "Proving it in fresh sandboxes"
    assert (len(short.then), len(short.missed)) == (2, 1)
    again = watched(RUNNING, begun, green_before, ENDS, begun)
    assert (again.then, again.missed) == (("Change made",), ())
    finish = Finish(summary="Done.", test_commands=("true",))
    counted = watched(RUNNING, begun, EvidenceRecorded(evidence=RED), finish)
    assert counted.doing == "Checking the change"
    assert len(counted.then) == 2
