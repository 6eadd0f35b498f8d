"""The tools of one agent, and what the calls of a reply ask for."""

import json
from collections.abc import Iterable
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from patchwright.core.agent.results import ResultSchema, split_result, with_result
from patchwright.core.agent.tools import Tool
from patchwright.core.events import types as ev
from patchwright.core.llm.model import ToolSpec
from patchwright.core.mcp import McpTool
from patchwright.core.types.base import Value

_RISK: Final = "risk"
_RISK_SCHEMA: Final[JsonValue] = {
    "type": "string",
    "enum": [ev.Risk.LOW, ev.Risk.MEDIUM, ev.Risk.HIGH],
    "description": "How much harm this could do outside the task.",
}


class Proposal(Value):
    """An action that the model wants, and how risky it says that is."""

    action: ev.AgentStep
    claimed: ev.Risk = ev.Risk.UNKNOWN


class Toolbox:
    """What the model is offered, the same in each request of a run.

    With `asks_risk` the model is asked to judge the risk of each call itself, and with
    a `result_schema` to hand over what fits it when it finishes.
    """

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        mcp_tools: Iterable[McpTool] = (),
        *,
        asks_risk: bool = False,
        result_schema: ResultSchema | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._mcp = {tool.name: tool for tool in mcp_tools}
        self._asks_risk = asks_risk
        self._asks_result = result_schema is not None
        specs = [tool.spec() for tool in self._tools.values()]
        if result_schema is not None:
            specs = [with_result(spec, result_schema) for spec in specs]
        specs += [_mcp_spec(tool) for tool in self._mcp.values()]
        self.specs = tuple(map(_with_risk, specs) if asks_risk else specs)

    def read(self, call: ev.ToolCall) -> Proposal | ev.ErrorObservation:
        """Return what a call asks for, or what to tell the model about it."""
        call, claimed = self._split_risk(call)
        call, result = split_result(call) if self._asks_result else (call, None)
        if tool := self._mcp.get(call.name):
            return Proposal(action=_mcp_call(tool, call), claimed=claimed)
        if call.name not in self._tools:
            return self._unknown(call)
        try:
            action = self._tools[call.name].action(call)
        except ValidationError as error:
            return _bad_arguments(call, error)
        if isinstance(action, ev.Finish):
            action = action.replace(result=result)
        return Proposal(action=action, claimed=claimed)

    def _split_risk(self, call: ev.ToolCall) -> tuple[ev.ToolCall, ev.Risk]:
        if not self._asks_risk:
            return call, ev.Risk.UNKNOWN
        arguments = json.loads(call.arguments)
        claimed = arguments.pop(_RISK, None)
        rest = call.replace(arguments=json.dumps(arguments))
        return rest, next((one for one in ev.Risk if one == claimed), ev.Risk.UNKNOWN)

    def _unknown(self, call: ev.ToolCall) -> ev.ErrorObservation:
        known = ", ".join([*self._tools, *self._mcp])
        text = f"There is no tool {call.name!r}. There are: {known}."
        return ev.ErrorObservation(reason="unknown-tool", text=text, call_id=call.id)


def _with_risk(spec: ToolSpec) -> ToolSpec:
    properties = spec.parameters.get("properties")
    named = properties if isinstance(properties, dict) else {}
    parameters = {**spec.parameters, "properties": {**named, _RISK: _RISK_SCHEMA}}
    return spec.replace(parameters=parameters)


def _mcp_spec(tool: McpTool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description, parameters=tool.parameters
    )


def _mcp_call(tool: McpTool, call: ev.ToolCall) -> ev.CallMcpTool:
    return ev.CallMcpTool(
        server=tool.server,
        tool=tool.name,
        arguments=json.loads(call.arguments),
        call_id=call.id,
    )


def _bad_arguments(call: ev.ToolCall, error: ValidationError) -> ev.ErrorObservation:
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_url=False)
    )
    text = f"{call.name} was not run. {faults}."
    return ev.ErrorObservation(reason="bad-arguments", text=text, call_id=call.id)
