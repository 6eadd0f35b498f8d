"""A scripted model plays its script and no more."""

import pytest

from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import ModelUnavailableError
from patchwright.core.llm.model import ModelRequest, UserText
from tests.fakes.scripted_model import ScriptedModel, ScriptEndedError, reply

REQUEST = ModelRequest(messages=(UserText(text="hi"),))


def test_steps_are_replies_errors_and_functions() -> None:
    def echo(request: ModelRequest) -> ModelReply:
        return reply(text=str(len(request.messages)))

    model = ScriptedModel(
        [reply(calls=[("shell", {"command": "ls"})]), ModelUnavailableError("x"), echo]
    )
    first = model.complete(REQUEST)
    assert [(call.id, call.name, call.arguments) for call in first.tool_calls] == [
        ("call_1", "shell", '{"command": "ls"}')
    ]
    with pytest.raises(ModelUnavailableError):
        model.complete(REQUEST)
    assert model.complete(REQUEST).text == "1"
    assert model.requests == [REQUEST] * 3
    assert model.unplayed == 0


def test_the_end_of_the_script_is_loud() -> None:
    with pytest.raises(ScriptEndedError, match="once more after its 0 steps"):
        ScriptedModel([]).complete(REQUEST)


def test_the_ceiling_is_what_it_was_told() -> None:
    assert ScriptedModel([], ceiling=None).ceiling_usd(REQUEST) is None
