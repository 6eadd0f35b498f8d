"""Invariant 2: killed wherever it may be, a run resumes, and does nothing twice."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.events.payload import AgentState
from tests.invariants.mortal import Fate
from tests.invariants.resumed_run import ResumedRun, Step
from tests.invariants.scripts import PLANS, Plan, commands

# One is so small that a chat of a few steps is condensed.
WINDOWS = st.sampled_from([None, 700])
# A worker that is killed early has only begun to see to what the last one left.
POINTS = st.integers(1, 12) | st.integers(1, 60)


class Crashes(RuleBasedStateMachine):
    """Workers die, sandboxes are lost, people talk, until one worker may finish."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runs: list[ResumedRun] = []
        self._ending: AgentEnding | None = None

    @initialize(plan=PLANS, window=WINDOWS)
    def begin(self, plan: Plan, window: int | None) -> None:
        self.plan = plan
        self.run = self._new_run("crashing", window)

    def _new_run(self, name: str, window: int | None) -> ResumedRun:
        run = ResumedRun(Path(self._folder.name) / name, self.plan, window)
        self._runs.append(run)
        return run

    @precondition(lambda self: self._ending is None)
    @rule(dies_at=POINTS, speaks_at=POINTS)
    def a_worker_is_killed(self, dies_at: int, speaks_at: int) -> None:
        ending = self.run.work(Fate(dies_at, {speaks_at: self.run.speak}))
        if ending is not None and ending.waits_as is None:
            self._ending = ending

    @precondition(lambda self: self._ending is None)
    @rule(dies_at=POINTS)
    def a_worker_is_killed_without_its_sandbox(self, dies_at: int) -> None:
        self.run.lose_sandbox()
        self.a_worker_is_killed(dies_at, 0)

    @rule()
    def somebody_speaks(self) -> None:
        self.run.speak()

    @precondition(lambda self: self._ending is None)
    @rule(dies_at=POINTS)
    def a_worker_is_killed_in_a_pause(self, dies_at: int) -> None:
        self.run.want(AgentState.PAUSED)
        self.a_worker_is_killed(dies_at, 0)
        self.run.want(AgentState.RUNNING)

    @invariant()
    def no_command_runs_twice(self) -> None:
        if self._runs:
            assert all(times == 1 for times in self.run.times_run().values())

    def teardown(self) -> None:
        try:
            if self._runs:
                self._finish()
        finally:
            for run in self._runs:
                run.close()
            self._folder.cleanup()

    def _finish(self) -> None:
        """Compare what has become of the run with one that nothing happened to."""
        calm = self._new_run("calm", self.run.context_window)
        expected = calm.work(Fate(None))
        self.run.want(AgentState.RUNNING)
        ending = self._ending or self.run.work(Fate(None))
        assert expected is not None
        assert ending == expected
        self.no_command_runs_twice()
        self.run.check_states()
        done, told = calm.transcripts(), self.run.transcripts()
        assert done.keys() == told.keys()
        for task, steps in done.items():
            assert len(steps) == len(told[task])
            assert all(map(Step.tells_as, steps, told[task]))
        assert calm.times_run().keys() == commands(self.plan)
        if len(self.run.sandboxes) == 1:
            assert self.run.times_run() == calm.times_run()


TestCrashes = Crashes.TestCase
TestCrashes.settings = settings(max_examples=50, stateful_step_count=12, deadline=None)
