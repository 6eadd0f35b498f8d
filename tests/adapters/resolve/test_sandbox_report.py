"""The first message of a run states what its sandbox has to run tests with."""

from pathlib import Path
from typing import Any

import pytest

from patchwright.core.events.actions import Message
from patchwright.core.events.observations import StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.llm.model import Models, UserText
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.resolver.context.sandbox_facts import HEADING
from patchwright.resolver.resolve import resolve
from patchwright.resolver.sandbox_report import ask_sandbox, read_project
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.resolve.test_resumed import FatalOnce, Killed, Remembered
from tests.adapters.resolve.workbench import Bench, bench, finish
from tests.fakes.scripted_model import ScriptedModel

WORKFLOW = "jobs:\n  test:\n    steps:\n      - run: python -m unittest -v\n"
PACKAGE = "import shelf_of_nobody\n"


def _prepare(told: Bench) -> str:
    told.repository.write("pyproject.toml", b'[project]\nname = "shop"\n')
    told.repository.write("src/shop/__init__.py", PACKAGE.encode())
    told.repository.write(".github/workflows/ci.yml", WORKFLOW.encode())
    return told.repository.commit("Make it a package")


def _facts(told: Bench) -> list[str]:
    messages = [event.payload for event in told.events("message")]
    texts = [one.text for one in messages if isinstance(one, Message)]
    return [text for text in texts if text.startswith(HEADING)]


def test_the_model_reads_facts_and_commands_before_its_first_step(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([finish()])
    with bench(tmp_path, Models.only(model)) as told:
        resolve(told.at(_prepare(told)), told.dependencies)
        [text] = _facts(told)
    said = [one.text for one in model.requests[0].messages if isinstance(one, UserText)]
    assert "Fix the sum." in "\n".join(said)
    assert text in "\n".join(said)
    assert "- Python 3." in text
    assert "`shop` does not import: `ModuleNotFoundError: No module named" in text
    assert "\n.github/workflows/ci.yml: python -m unittest -v\n" in text
    assert len(text) < 1000


def test_a_run_that_is_resumed_is_not_told_again(tmp_path: Path) -> None:
    model = ScriptedModel([finish()])
    dependencies: dict[str, Any] = {
        "sandboxes": FatalOnce(),
        "checkpoints": Remembered(),
    }
    with bench(tmp_path, Models.only(model), **dependencies) as told:
        with pytest.raises(Killed):
            told.resolve()
        loading = StateChanged(state=AgentState.LOADING)
        told.dependencies.log.append(Source.SYSTEM, loading)
        resolve(None, told.dependencies)
        assert len(_facts(told)) == 1


class _Speechless(BubblewrapRuntimes):
    """Starts sandboxes that cannot be asked anything about themselves."""

    def start(self, spec: SandboxSpec) -> Any:
        return _Unasked(super().start(spec))


class _Unasked:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runtime, name)

    def run(self, action: Any, action_id: str) -> Any:
        if getattr(action, "session", "") == "patchwright-facts":
            return self._runtime.run(action.replace(command="exit 7"), action_id)
        return self._runtime.run(action, action_id)


def test_a_probe_that_fails_costs_no_more_than_its_lines(tmp_path: Path) -> None:
    model = ScriptedModel([finish()])
    with bench(tmp_path, Models.only(model), sandboxes=_Speechless()) as told:
        resolve(told.at(_prepare(told)), told.dependencies)
        [text] = _facts(told)
    assert "Python" not in text
    assert "python -m unittest -v" in text


def test_an_import_that_never_ends_costs_seconds_and_the_rest_is_told(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([finish()])
    with bench(tmp_path, Models.only(model)) as told:
        told.repository.write("setup.py", b"")
        told.repository.write("shop/__init__.py", b"while True:\n    pass\n")
        base = told.repository.commit("Never import this")
        resolve(told.at(base), told.dependencies)
        [text] = _facts(told)
    assert "- Python 3." in text
    assert "shop" not in text


def test_the_facts_are_a_value_for_others_too(tmp_path: Path) -> None:
    with bench(tmp_path, Models.only(ScriptedModel([]))) as told:
        base = _prepare(told)
        project = read_project(told.dependencies.code, base)
        runtime = told.dependencies.sandboxes.start(told.dependencies.spec)
        try:
            facts = ask_sandbox(runtime, project)
        finally:
            runtime.close()
    assert project.modules == ("shop",)
    assert facts.python.startswith("3.")
