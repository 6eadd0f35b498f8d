"""A recording is repeated, free and by name."""

import json
from pathlib import Path

import pytest

from patchwright.core.llm.model import AssistantTurn, ModelRequest, ToolResult, UserText
from patchwright.core.llm.scripted import (
    RecordedModel,
    RecordingEndedError,
    load_recording,
)
from patchwright.core.types.errors import SettingsError

RECORDING = {
    "name": "example",
    "replies": [
        {
            "text": "I look.",
            "calls": [{"name": "shell", "arguments": {"command": "ls"}}],
        },
        {"text": "Done."},
    ],
}
FIRST = ModelRequest(messages=(UserText(text="Fix it."),))


@pytest.fixture
def model(tmp_path: Path) -> RecordedModel:
    path = tmp_path / "example.json"
    path.write_text(json.dumps(RECORDING))
    return RecordedModel(load_recording(path))


def after(model: RecordedModel, request: ModelRequest) -> ModelRequest:
    reply = model.complete(request)
    turn = AssistantTurn(text=reply.text, tool_calls=reply.tool_calls)
    results = [ToolResult(call_id=call.id, text="ok") for call in reply.tool_calls]
    return ModelRequest(messages=(*request.messages, turn, *results))


def test_replies_come_in_order_for_nothing(model: RecordedModel) -> None:
    first = model.complete(FIRST)
    assert first.text == "I look."
    assert first.tool_calls[0].arguments == '{"command": "ls"}'
    assert first.usage.cost_usd == 0.0
    assert model.ceiling_usd(FIRST) == 0.0
    assert model.complete(after(model, FIRST)).text == "Done."


def test_its_name_says_that_it_is_recorded(model: RecordedModel) -> None:
    assert model.name == "recorded:example"
    assert model.complete(FIRST).model == "recorded:example"


def test_another_worker_goes_on_where_the_first_one_ended(
    model: RecordedModel, tmp_path: Path
) -> None:
    second_request = after(model, FIRST)
    other = RecordedModel(load_recording(tmp_path / "example.json"))
    assert other.complete(second_request).text == "Done."


def test_the_end_of_the_recording_is_an_error_for_people(model: RecordedModel) -> None:
    request = after(model, after(model, FIRST))
    with pytest.raises(RecordingEndedError, match="has 2 replies, and the run asks"):
        model.complete(request)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"name": "x"}'])
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"bad\.json is not a recording"):
        load_recording(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_recording(tmp_path / "none.json")
