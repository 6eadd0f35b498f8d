"""A provider without tool calls is asked in text, over HTTP."""

from patchwright.core.llm.text_tool_model import TextToolModel
from tests.adapters.llm.asking import ask, history, model_at
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import say, status

LS = '<call tool="shell">\n<arg name="command">ls</arg>\n</call>'


def test_calls_and_results_travel_as_text_with_a_stable_beginning() -> None:
    with FakeProvider([f"I look.\n\n{LS}", LS, "Done."]) as provider:
        model = TextToolModel(model_at(provider), always=True)
        first = history(model.complete(ask()), result="a.py")
        second = history(model.complete(ask(*first)), result="b.py")
        done = model.complete(ask(*first, *second))
    assert (done.text, done.tool_calls) == ("Done.", ())
    assert all("tools" not in request for request in provider.requests)
    roles = [message["role"] for message in provider.requests[2]["messages"]]
    assert roles == ["system", "user", *["assistant", "user"] * 2]
    assert [m["content"] for m in provider.requests[1]["messages"][2:]] == [
        f"I look.\n\n{LS}",
        '<result tool="shell">\na.py\n</result>',
    ]
    chats = [request["messages"] for request in provider.requests]
    assert chats[1][:2] == chats[0]
    assert chats[2][:4] == chats[1]


def test_a_provider_that_refuses_tools_is_asked_in_text_from_then_on() -> None:
    refusal = status(400, "library/x does not support tools")
    with FakeProvider([refusal, LS, LS]) as provider:
        model = TextToolModel(model_at(provider), always=False)
        model.complete(ask())
        assert model.complete(ask()).tool_calls[0].name == "shell"
    assert ["tools" in request for request in provider.requests] == [True, False, False]


def test_s60_a_call_that_was_cut_off_is_not_run() -> None:
    cut = say(LS.partition("</arg>")[0], finish_reason="length")
    with FakeProvider([cut]) as provider:
        reply = TextToolModel(model_at(provider), always=True).complete(ask())
    assert list(reply.malformed) == [reply.tool_calls[0].id]
