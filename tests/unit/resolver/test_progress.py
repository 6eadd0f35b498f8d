"""How far a run is, as those who watch it read it."""

from datetime import timedelta

from patchwright.core.events.types import (
    AgentState,
    ErrorObservation,
    Event,
    EvidenceRecorded,
    Finish,
    Known,
    Message,
    ModelReply,
    OutcomeReached,
    RunCommand,
    Source,
    StateChanged,
)
from patchwright.core.types.work import Usage
from patchwright.resolver.messages.status import Progress, progress_comment
from patchwright.resolver.progress import Throttle, Watch
from tests.fakes.clock import START
from tests.unit.resolver.endings import FRAME, GREEN, RED, proven


def watched(*payloads: Known, source: Source = Source.AGENT) -> Progress:
    """Return the progress after these events, one a second."""
    watch, progress = Watch("docker", START), Progress()
    for second, payload in enumerate(payloads, start=1):
        at = START + timedelta(seconds=second)
        progress = watch.add(Event(id=second, at=at, source=source, payload=payload))
    return progress


RUNNING = StateChanged(state=AgentState.RUNNING)
REPLY = ModelReply(usage=Usage(cost_usd=0.41, tokens_in=10))


def test_before_the_sandbox_is_ready_it_is_prepared() -> None:
    progress = watched(Message(text="task"), source=Source.SYSTEM)
    assert (progress.done, progress.doing) == ((), "Preparing the sandbox")


def test_each_step_shows_what_is_done_now() -> None:
    progress = watched(RUNNING, REPLY, RunCommand(command="pytest\nls"))
    assert progress.done == ("Repository checked out in a docker sandbox",)
    assert progress.doing == "Step 1: `run_command pytest`"
    assert (progress.iterations, progress.usage) == (1, REPLY.usage)
    assert progress.seconds == 3


def test_s58_waiting_for_the_provider_is_shown_and_ends() -> None:
    until = START + timedelta(minutes=1)
    limited = StateChanged(state=AgentState.RATE_LIMITED, until=until)
    waiting = watched(RUNNING, REPLY, limited)
    shown = f"{until:%H:%M:%S}Z"
    assert waiting.doing == f"Waiting until {shown}, as the model's provider asks"
    going_on = watched(RUNNING, REPLY, limited, RUNNING)
    assert going_on.doing == "Going on"
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
    assert after.done[1:] == (
        "Change made",
        "`pytest -k sum` before the change: exit 1",
        "`pytest -k sum` after the change: exit 0",
    )
    assert after.doing == "Delivering"


def test_without_a_test_command_nothing_is_said_of_proof() -> None:
    progress = watched(RUNNING, Finish(summary="x"))
    assert progress.done[1:] == ("Work ended",)
    assert progress.doing == "Looking at what was changed"


def test_the_comment_of_a_run_that_works_reads_so() -> None:
    progress = watched(RUNNING, REPLY, RunCommand(command="pytest"))
    assert (
        progress_comment(progress, FRAME)
        == """\
**Working on it** · step 1 · 3s · $0.41 of $3.00 · reply `@patchwright stop` to stop

- [x] Repository checked out in a docker sandbox
- [ ] Step 1: `run_command pytest`

<sub>run 7f3a9c1e · asked for by alice · content as of 14:02:11Z · model openai/x</sub>

<!-- patchwright:state=running run=7f3a9c1e000000000000000000000000 -->"""
    )


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
