"""The tool that ends the work asks for a result where a schema does, and only there."""

from patchwright.core.agent.results import read_schema
from patchwright.core.agent.tools import ENDING, WORKING, Toolbox
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import ToolSpec

TOOLS = (*WORKING, *ENDING)
SCHEMA = read_schema('{"type": "array", "items": {"type": "integer"}}')


def parameters(specs: tuple[ToolSpec, ...]) -> dict[str, str]:
    return {one.name: one.model_dump_json() for one in specs}


def test_every_other_tool_stays_as_it_is_to_the_byte() -> None:
    plain = parameters(Toolbox(TOOLS).specs)
    asking = parameters(Toolbox(TOOLS, result_schema=SCHEMA).specs)
    assert list(plain) == list(asking)
    assert [name for name in plain if plain[name] != asking[name]] == ["finish"]
    assert '"result"' in asking["finish"]
    assert '"result"' not in plain["finish"]


def test_without_a_schema_a_result_is_an_argument_too_many() -> None:
    call = ToolCall(id="c", name="finish", arguments='{"summary": "s", "result": [1]}')
    assert "result: Extra inputs are not permitted" in str(Toolbox(TOOLS).read(call))
    read = Toolbox(TOOLS, result_schema=SCHEMA).read(call)
    assert "'result': [1]" in str(read.model_dump())
