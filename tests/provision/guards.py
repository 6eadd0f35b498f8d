"""Fail a test run that skipped something or left a container behind."""

from contextlib import closing

import docker
import pytest

from tests.provision.engine import engine_answers
from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until

MANAGED = "patchwright.managed"
# A container that was told to go takes a moment to be gone.
REMOVAL_S = 10.0


class NothingSkipped:
    """A missing component must fail a run, not shorten it."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skipped.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.skipped.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.skipped:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for node_id in self.skipped:
            terminalreporter.write_line(f"SKIPPED, which is a failure here: {node_id}")


class NothingLeftBehind:
    """Every sandbox that a test starts is gone when the tests have ended."""

    def __init__(self) -> None:
        self.before = find_managed()
        self.left: frozenset[str] = frozenset()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        try:
            wait_until(lambda: not self._new(), "containers to go", REMOVAL_S)
        except ProvisionError:
            self.left = self._new()
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for name in sorted(self.left):
            terminalreporter.write_line(f"LEFT BEHIND: container {name}")

    def _new(self) -> frozenset[str]:
        return find_managed() - self.before


def find_managed() -> frozenset[str]:
    """Return the names of all containers that carry our label, running or not."""
    if not engine_answers():
        return frozenset()
    with closing(docker.from_env()) as client:
        found = client.api.containers(all=True, filters={"label": MANAGED})
    return frozenset(container["Names"][0] for container in found)
