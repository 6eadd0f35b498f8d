"""Ctrl-C ends a run at once, whatever it waits for, and leaves nothing behind."""

import signal
import subprocess
from contextlib import closing

import docker
import pytest

from patchwright.core.system.clock import SystemClock
from tests.adapters.cli.terminal import PATIENCE_S, Ended, Shop, interrupt
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.story import fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

SOON_S = 5.0
SLEEP = "touch /workspace/repo/asleep; sleep 300"
PROOF = call(
    "finish", summary="Done.", title="Count every piece", test_commands=["sleep 300"]
)


def end(process: subprocess.Popen[str]) -> Ended:
    """Wait for the end, which must come soon."""
    clock = SystemClock()
    told_at = clock.monotonic()
    out, err = process.communicate(timeout=PATIENCE_S)
    assert clock.monotonic() - told_at < SOON_S
    return Ended(process.returncode, out, err)


def is_asleep(shop: Shop) -> bool:
    """Tell whether the sandbox is in the middle of its command."""
    return any(shop.tmp.glob("*/workspace/repo/asleep"))


def proves(shop: Shop) -> bool:
    """Tell whether both fresh sandboxes have their checkout."""
    return len(list(shop.tmp.glob("*/workspace/repo/cart.py"))) == 2


def test_while_the_model_is_asked(shop: Shop) -> None:
    with FakeProvider([hang()]) as provider:
        process = shop.start("resolve", *shop.local(), "--json", provider=provider)
        interrupt(process, lambda: bool(provider.requests))
        ended = end(process)
    assert (ended.code, ended.answer["outcome"]) == (1, "stopped")
    assert ended.answer["reason"] == "asked"
    assert ended.answer["summary"] == "Stopped by SIGINT."
    assert ended.err == ""
    assert shop.sandboxes() == []
    assert shop.branches() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_while_a_command_runs(number: signal.Signals, shop: Shop) -> None:
    with FakeProvider([call("shell", command=SLEEP)]) as provider:
        process = shop.start("resolve", *shop.local(), provider=provider)
        interrupt(process, lambda: is_asleep(shop), number)
        ended = end(process)
    assert ended.code == 1
    assert ended.out.startswith("stopped (asked) · 1 step · ")
    assert f"Stopped by {number.name}." in ended.out
    assert "Traceback" not in ended.err
    assert shop.sandboxes() == []


def test_while_the_change_is_proven(shop: Shop) -> None:
    turns: list[TurnLike] = [*fix_turns()[:3], PROOF]
    with FakeProvider(turns) as provider:
        process = shop.start("resolve", *shop.local(), "--json", provider=provider)
        interrupt(process, lambda: proves(shop))
        ended = end(process)
    assert (ended.code, ended.answer["outcome"]) == (1, "stopped")
    assert ended.answer["iterations"] == 4
    assert shop.sandboxes() == []


def test_no_container_is_left(shop: Shop, sandbox_image: str) -> None:
    settings = {
        "PATCHWRIGHT_SANDBOX__KIND": "docker",
        "PATCHWRIGHT_SANDBOX__IMAGE": sandbox_image,
    }
    with FakeProvider([hang()]) as provider:
        process = shop.start(
            "resolve", *shop.local(), "--json", provider=provider, settings=settings
        )
        interrupt(process, lambda: bool(provider.requests))
        ended = end(process)
    assert ended.answer["outcome"] == "stopped"
    label = f"patchwright.run={ended.answer['run_id']}"
    with closing(docker.from_env()) as client:
        assert client.api.containers(all=True, filters={"label": label}) == []


def test_while_somebodys_branch_is_proven(shop: Shop) -> None:
    shop.tree.git("checkout", "--quiet", "-b", "topic")
    shop.tree.write("cart.py", b"x = 1\n")
    shop.tree.commit()
    arguments = ["prove", "-C", "shop", "--base", "trunk", "--test", SLEEP]
    process = shop.start(*arguments, "--json")
    interrupt(process, lambda: is_asleep(shop))
    ended = end(process)
    assert (ended.code, ended.err) == (1, "")
    assert ended.answer["reason"] == "asked"
    assert ended.answer["error"] == "Stopped by SIGINT; nothing was shown."
    assert shop.sandboxes() == []
