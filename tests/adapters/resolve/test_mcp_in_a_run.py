"""The agent calls the tools of MCP servers, and goes on where one cannot be had."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.events.actions import CallMcpTool
from patchwright.core.mcp import McpServers
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import RandomIds
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.integrations.mcp.launcher import open_servers
from patchwright.sandbox.factory import create_factory
from tests.adapters.mcp.published import ANSWER, IN_SANDBOX, QUESTION, install, serving
from tests.adapters.resolve.workbench import (
    CART_STEPS,
    bench,
    models_at,
    settings_of,
)
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results

CONVERT = call("time__convert_time", **QUESTION)


def with_servers(folder: Path, **servers: dict[str, Any]) -> Settings:
    sandbox = {"allow_domains": ["127.0.0.1"]}
    return settings_of(folder, sandbox=sandbox, mcp={"servers": servers})


def tell(request: Request) -> TurnLike:
    """Finish with what the tool has said, if it is the right answer."""
    assert ANSWER in results(request)[-1]
    return call("finish", summary="Asked.", answer=results(request)[-1])


def tools(request: Request) -> list[str]:
    return [tool["function"]["name"] for tool in request["tools"]]


@pytest.mark.real
@pytest.mark.timeout(240)
def test_the_agent_calls_a_published_server_in_its_container(
    tmp_path: Path, sandbox_image: str
) -> None:
    settings = with_servers(tmp_path, time=IN_SANDBOX)

    def open_installed(runtime: Runtime) -> McpServers:
        install(runtime)
        return open_servers(settings, runtime)

    run_id = RandomIds().new()
    with FakeProvider(in_turn(CONVERT, tell)) as provider:
        models = models_at(tmp_path, _llm(provider))
        with bench(
            tmp_path,
            models,
            run_id=run_id,
            sandboxes=create_factory("docker", SystemClock(), sandbox_image),
            spec=SandboxSpec(run_id=run_id, memory="1g"),
            open_mcp=open_installed,
        ) as scene:
            outcome = scene.resolve()
            [called] = scene.events("call_mcp_tool")
    assert outcome.kind is OutcomeKind.ANSWERED
    assert ANSWER in outcome.summary
    assert isinstance(called.payload, CallMcpTool)
    assert called.payload.server == "time"


@pytest.mark.real
@pytest.mark.timeout(240)
def test_the_agent_calls_a_published_server_over_http(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "site") as url,
        FakeProvider(in_turn(CONVERT, tell)) as provider,
    ):
        settings = with_servers(tmp_path, time={"url": url})
        models = models_at(tmp_path, _llm(provider))
        open_mcp = partial(open_servers, settings)
        with bench(tmp_path, models, open_mcp=open_mcp) as scene:
            outcome = scene.resolve()
    assert outcome.kind is OutcomeKind.ANSWERED
    assert ANSWER in outcome.summary
    assert "time__get_current_time" in tools(provider.requests[0])


def test_a_server_that_cannot_start_is_told_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    crash = ["python3", "-c", "raise SystemExit('no configuration found')"]
    settings = with_servers(tmp_path, broken={"command": crash})
    steps = [[call(name, **given) for name, given in step] for step in CART_STEPS]
    with FakeProvider(steps) as provider:
        models = models_at(tmp_path, _llm(provider))
        open_mcp = partial(open_servers, settings)
        with bench(tmp_path, models, open_mcp=open_mcp) as scene:
            outcome = scene.resolve()
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
    [fault] = [note for note in outcome.notes if "broken" in note]
    assert "no configuration found" in fault
    assert fault in asked(provider.requests[0])
    assert "broken__" not in json.dumps(provider.requests[0]["tools"])


def _llm(provider: FakeProvider) -> dict[str, object]:
    return {"model": "openai/m", "base_url": provider.base_url}
