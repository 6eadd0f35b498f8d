"""A call that nobody waits for any more holds nothing up."""

import subprocess
import sys

import pytest

from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, hang

PROGRAM = """
import sys, threading
from pydantic import SecretStr
from patchwright.core.system.clock import SystemClock
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.llm.model import ModelRequest, UserText
from patchwright.workers.ops.lifecycle import exit_now

key = SecretStr("sk-test")
config = ModelConfig(model="openai/x", base_url=sys.argv[1], api_key=key)
model = LitellmModel(config, SystemClock())
request = ModelRequest(messages=(UserText(text="hi"),))
model.complete(request)
threading.Thread(target=model.complete, args=(request,), daemon=True).start()
sys.stdin.readline()
exit_now(0)
"""


@pytest.mark.parametrize("turn", [hang(), "ok"])
def test_a_process_ends_at_once_and_quietly_while_a_call_is_under_way(
    turn: TurnLike,
) -> None:
    """The program goes on to its end as soon as the provider has the second request.

    It ends as the command line does: CPython's own way can hang where a thread holds a
    lock of the interpreter, such as that of an import.
    """
    argv = [sys.executable, "-W", "error::ResourceWarning", "-c", PROGRAM]
    pipe = subprocess.PIPE
    with (
        FakeProvider(lambda _request: answer()) as provider,
        subprocess.Popen(
            [*argv, provider.base_url], stdin=pipe, stdout=pipe, stderr=pipe
        ) as program,
    ):

        def answer() -> TurnLike:
            if len(provider.requests) == 1:
                return "ok"
            assert program.stdin
            program.stdin.write(b"\n")
            program.stdin.flush()
            return turn

        assert program.wait(timeout=60) == 0
        assert program.stdout
        assert program.stderr
        assert (program.stdout.read(), program.stderr.read()) == (b"", b"")
        assert len(provider.requests) == 2
