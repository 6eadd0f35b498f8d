"""Tool calls are read so that broken ones are known and good ones unchanged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import AssistantTurn, ModelRequest, ToolSpec
from patchwright.core.llm.tool_calls import (
    SentCall,
    read_arguments,
    read_calls,
    read_sent_call,
)

SHELL = ToolSpec(
    name="shell",
    description="Run a command.",
    parameters={"type": "object", "properties": {"command": {"type": "string"}}},
)
STATUS = ToolSpec(
    name="status", description="Look.", parameters={"type": "object", "properties": {}}
)
REQUEST = ModelRequest(messages=(), tools=(SHELL, STATUS))


def nested(levels: int) -> str:
    """Return an object that is so many levels deep."""
    return '{"command":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


def levels(number: int) -> dict[str, JsonValue]:
    tree: dict[str, JsonValue] = {}
    for _ in range(number):
        tree = {"a": tree}
    return tree


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ('{"command": "ls', "The arguments were not valid JSON: Unterminated string"),
        ("", "The arguments were empty."),
        ("  ", "The arguments were empty."),
        ("null", "The arguments were not a JSON object but a NoneType."),
        ('"ls"', "The arguments were not a JSON object but a str."),
        ('["ls"]', "The arguments were not a JSON object but a list."),
        (
            '{"command": NaN}',
            "The arguments were not valid JSON: NaN is not a JSON number",
        ),
        ("[" * 100_000, "The arguments were nested more than 100 levels deep."),
        (nested(101), "The arguments were nested more than 100 levels deep."),
        ("9" * 10_000, "The arguments were not valid JSON: a number in them has too"),
    ],
)
def test_s60_broken_arguments_are_replaced_and_the_fault_is_reported(
    arguments: str, fault: str
) -> None:
    text, told = read_arguments(arguments, SHELL)
    assert text == "{}"
    assert told.startswith(fault)


def test_s60_empty_arguments_are_fine_for_a_tool_without_parameters() -> None:
    assert read_arguments("", STATUS) == ("{}", "")


def test_good_arguments_stay_byte_for_byte() -> None:
    text = '{ "command":"echo \\u00e4 \\ud83d\\ude00" }'
    assert read_arguments(text, SHELL) == (text, "")


def test_an_escaped_half_of_a_pair_is_replaced() -> None:
    assert read_arguments('{"command": "a\\ud83d"}', SHELL) == (
        '{"command": "a\ufffd"}',
        "",
    )


@given(st.text())
def test_what_is_stored_is_always_an_object(text: str) -> None:
    stored, _ = read_arguments(text, SHELL)
    assert isinstance(json.loads(stored), dict)


def test_missing_and_repeated_ids_become_unique_also_across_turns() -> None:
    earlier = AssistantTurn(
        text="", tool_calls=(ToolCall(id="call", name="shell", arguments="{}"),)
    )
    request = REQUEST.replace(messages=(earlier,))
    sent = [_sent("a"), _sent("a"), _sent(""), _sent("")]
    read = read_calls(sent, request)
    assert [call.id for call in read.calls] == ["a", "a_2", "call_2", "call_3"]
    assert read.malformed == {}


def test_an_id_that_another_provider_would_refuse_is_replaced() -> None:
    long = "functions.shell:0" + "x" * 100
    read = read_calls([_sent(long), _sent(long)], REQUEST)
    first, second = (call.id for call in read.calls)
    assert first == "functions_shell_0" + "x" * 17
    assert second == first + "_2"


def test_what_signs_a_call_is_kept_by_its_id() -> None:
    signed = SentCall(id="a", provider_specific_fields={"thought_signature": "s"})
    read = read_calls([signed, _sent("b")], REQUEST)
    assert read.extras == {
        "a": {"provider_specific_fields": {"thought_signature": "s"}}
    }


@pytest.mark.parametrize(
    ("name", "stored"), [("", "unnamed"), ("run it!", "run_it_"), ("x" * 70, "x" * 64)]
)
def test_a_name_no_provider_takes_back_is_replaced_and_refused(
    name: str, stored: str
) -> None:
    call = SentCall(id="a", name=name, arguments='{"x": 1}')
    read = read_calls([call], REQUEST)
    assert [call.name for call in read.calls] == [stored]
    assert read.malformed["a"].startswith("There is no tool named")


def _sent(call_id: str) -> SentCall:
    return SentCall(id=call_id, name="shell", arguments='{"command": "ls"}')


def test_arguments_may_be_nested_as_deep_as_anybody_writes_them() -> None:
    assert read_arguments(nested(100), SHELL) == (nested(100), "")


@pytest.mark.parametrize(
    ("sent", "name", "fault"),
    [
        ({"function": None}, "", ""),
        ({"name": "shell", "arguments": {"command": "ls"}}, "shell", ""),
        ({"function": {"name": "shell", "arguments": ["ls"]}}, "shell", ""),
        ({"function": {"name": 7}}, "7", ""),
        ({"function": {"name": "shell", "arguments": levels(200)}}, "shell", "nested"),
        ({"function": {"name": ["shell"]}, "extra_content": levels(200)}, "", ""),
    ],
)
def test_a_call_of_any_form_is_read_as_far_as_it_can_be(
    sent: dict[str, JsonValue], name: str, fault: str
) -> None:
    call = read_sent_call(sent)
    assert call.name == name
    assert fault in call.fault
    assert bool(fault) == bool(call.fault)
    assert call.extras == {}
    [read] = read_calls([call], REQUEST).calls
    assert json.loads(read.arguments) in ({}, {"command": "ls"})
