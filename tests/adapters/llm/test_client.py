"""A model is asked over HTTP, and its reply can be given back to it."""

import subprocess
import sys
import threading
import time

import pytest

from patchwright.core.llm.errors import ModelUnavailableError
from patchwright.core.llm.library import preload_litellm
from patchwright.core.llm.model import Image, UserText
from patchwright.core.system.clock import SystemClock
from tests.adapters.llm.asking import ask, history, model_at
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import broken_call, call, hang, raw, say, with_usage


def test_text_and_calls_arrive_and_go_back() -> None:
    turn = say("I look.", call("shell", command="ls"), call("status"))
    with FakeProvider([turn, "Done."]) as provider:
        model = model_at(provider)
        reply = model.complete(ask())
        done = model.complete(ask(*history(reply, result="a.py")))
    assert (reply.text, reply.stop_reason) == ("I look.", "tool_calls")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [
        ("shell", '{"command": "ls"}'),
        ("status", "{}"),
    ]
    assert (done.text, done.stop_reason, done.malformed) == ("Done.", "stop", {})
    first, second = reply.tool_calls
    assert provider.requests[1]["messages"][2:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": first.id,
                    "type": "function",
                    "function": {"name": "shell", "arguments": '{"command": "ls"}'},
                },
                {
                    "id": second.id,
                    "type": "function",
                    "function": {"name": "status", "arguments": "{}"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": first.id, "content": "a.py"},
        {"role": "tool", "tool_call_id": second.id, "content": "a.py"},
    ]


def test_s13_the_key_is_sent_unchanged() -> None:
    with FakeProvider(["ok"], api_key="sk-another") as provider:
        model_at(provider, {"api_key": "sk-another"}).complete(ask())
    assert provider.refused == []


def test_a_server_of_ones_own_needs_no_key() -> None:
    with FakeProvider(["ok"], api_key="no-key") as provider:
        assert model_at(provider, {"api_key": None}).complete(ask()).text == "ok"


@pytest.mark.parametrize("arguments", ['{"command": "ls', "", None, '["ls"]'])
def test_s60_broken_arguments_are_named_and_the_run_goes_on(
    arguments: str | None,
) -> None:
    with FakeProvider([broken_call("shell", arguments), "I see."]) as provider:
        model = model_at(provider)
        reply = model.complete(ask())
        again = model.complete(ask(*history(reply, result="The arguments were bad.")))
    (sent,) = reply.tool_calls
    assert sent.arguments == "{}"
    assert list(reply.malformed) == [sent.id]
    assert again.text == "I see."


def test_s60_no_arguments_are_fine_for_a_tool_without_parameters() -> None:
    with FakeProvider([broken_call("status", None)]) as provider:
        reply = model_at(provider).complete(ask())
    assert reply.tool_calls[0].arguments == "{}"
    assert reply.malformed == {}


def test_repeated_and_missing_ids_can_be_given_back() -> None:
    calls = [broken_call("status", "{}", id=id_) for id_ in ("a", "a", None)]
    with FakeProvider([calls, [broken_call("status", "{}", id="a")], "ok"]) as provider:
        model = model_at(provider)
        first = history(model.complete(ask()))
        second = history(model.complete(ask(*first)))
        assert model.complete(ask(*first, *second)).text == "ok"


def test_lone_surrogates_pass_neither_way() -> None:
    body = (
        rb'{"id": "x", "object": "chat.completion", "created": 1, "model": "m",'
        rb'"choices": [{"index": 0, "finish_reason": "stop",'
        rb'"message": {"role": "assistant", "content": "half \ud83d"}}]}'
    )
    with FakeProvider([raw(body)]) as provider:
        reply = model_at(provider).complete(ask(UserText(text="half \ud83d")))
    assert reply.text == "half \ufffd"
    assert provider.requests[0]["messages"][-1]["content"] == "half \ufffd"


def test_s61_plain_reasoning_is_sent_back() -> None:
    turn = say("x", extra={"reasoning_content": "hmm"})
    with FakeProvider([turn, "ok"]) as provider:
        model = model_at(provider)
        model.complete(ask(*history(model.complete(ask()))))
    assert provider.requests[1]["messages"][2]["reasoning_content"] == "hmm"


def test_s61_the_signature_of_a_call_is_sent_back_with_it() -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    called = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "status", "arguments": "{}"},
        "extra_content": signature,
    }
    turn = say("x", extra={"tool_calls": [called]})
    with FakeProvider([turn, "ok"]) as provider:
        model = model_at(provider)
        model.complete(ask(*history(model.complete(ask()))))
    assert provider.requests[1]["messages"][2]["tool_calls"] == [called]


def test_images_go_to_a_model_that_sees_them_and_else_a_line_says_so() -> None:
    image = Image(media_type="image/png", data="QUJD")
    shown = ask(UserText(text="See.", images=(image, image)))
    with FakeProvider(["ok", "ok"]) as provider:
        model_at(provider, {"sees_images": True}).complete(shown)
        model_at(provider).complete(shown)
    seen, unseen = (sent["messages"][-1]["content"] for sent in provider.requests)
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    assert seen == [{"type": "text", "text": "See."}, part, part]
    assert unseen == (
        "See.\n\n"
        "(Image 1 could not be shown: this model sees none.)\n"
        "(Image 2 could not be shown: this model sees none.)"
    )


def test_a_server_of_ones_own_is_told_how_much_to_think() -> None:
    with FakeProvider(["ok"]) as provider:
        model_at(provider, {"reasoning_effort": "low"}).complete(ask())
    assert provider.requests[0]["reasoning_effort"] == "low"


def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    with FakeProvider([call("shell", command="ls"), "ok", "ok"]) as provider:
        model = model_at(provider)
        first = history(model.complete(ask()))
        second = history(model.complete(ask(*first)))
        model.complete(ask(*first, *second, UserText(text="And now?")))
    first_body, second_body, third_body = (
        body.partition(b'],"max_tokens":')[0] for body in provider.raw_requests
    )
    assert second_body.startswith(first_body)
    assert third_body.startswith(second_body)


def test_settings_are_sent_when_stated_and_only_then() -> None:
    with FakeProvider(["ok", "ok"]) as provider:
        model_at(provider).complete(ask())
        model_at(provider, {"temperature": 0.2, "max_output_tokens": 99}).complete(
            ask()
        )
    plain, tuned = ({**sent, "messages": 0, "tools": 0} for sent in provider.requests)
    usual = {"model": "some-model", "messages": 0, "tools": 0, "max_tokens": 16_384}
    assert plain == usual
    assert tuned == {**usual, "temperature": 0.2, "max_tokens": 99}


def test_cached_tokens_are_counted() -> None:
    turn = with_usage("ok", prompt_tokens_details={"cached_tokens": 64})
    with FakeProvider([turn]) as provider:
        usage = model_at(provider).complete(ask()).usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached) == (100, 20, 64)


def test_a_call_ends_at_its_deadline_even_if_the_provider_never_answers() -> None:
    started_at = time.monotonic()
    with FakeProvider([hang()]) as provider:
        model = model_at(provider, clock=SystemClock())
        with pytest.raises(ModelUnavailableError, match="no usable answer"):
            model.complete(ask(deadline_s=0.3))
    assert time.monotonic() - started_at < 5


def test_threads_may_share_a_model() -> None:
    with FakeProvider(lambda request: request["messages"][-1]["content"]) as provider:
        model = model_at(provider)
        heard: dict[str, str] = {}

        def talk(word: str) -> None:
            heard[word] = model.complete(ask(UserText(text=word))).text

        threads = [threading.Thread(target=talk, args=(w,)) for w in ("a", "b", "c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert heard == {"a": "a", "b": "b", "c": "c"}


def test_a_call_may_come_while_the_import_is_still_running() -> None:
    preload_litellm()
    with FakeProvider(["ok"]) as provider:
        assert model_at(provider).complete(ask()).text == "ok"


def test_importing_the_client_does_not_import_litellm() -> None:
    check = (
        "import sys, patchwright.core.llm.client as client\n"
        "sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_a_price_in_the_settings_needs_no_litellm() -> None:
    check = (
        "import sys\n"
        "from patchwright.core.system.clock import SystemClock\n"
        "from patchwright.core.llm.client import LitellmModel\n"
        "from patchwright.core.llm.prices import ModelConfig\n"
        "from patchwright.core.llm.model import ModelRequest\n"
        "config = ModelConfig(model='openai/x', input_cost_per_token=1.0,\n"
        "                     output_cost_per_token=1.0, max_output_tokens=7)\n"
        "model = LitellmModel(config, SystemClock())\n"
        "assert model.ceiling_usd(ModelRequest(messages=())) == 7.0\n"
        "sys.exit('litellm' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
