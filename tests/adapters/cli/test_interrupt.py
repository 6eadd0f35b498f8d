"""Ctrl-C asks for the work so far, twice it ends at once; nothing is left behind."""

import re
import signal
import subprocess
from contextlib import closing

import docker
import pytest

from patchwright.core.system.clock import SystemClock
from tests.adapters.cli.terminal import (
    MODEL,
    PATIENCE_S,
    Ended,
    Shop,
    interrupt,
    steady,
)
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.story import FILES, REPO, fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

SOON_S = 15.0
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
    """Tell whether both fresh sandboxes have their checkout, besides the agent's."""
    return len(list(shop.tmp.glob("*/workspace/repo/cart.py"))) == 3


def test_while_the_model_is_asked(shop: Shop) -> None:
    with FakeProvider([hang()]) as provider:
        process = shop.start("resolve", *shop.local(), "--json", provider=provider)
        interrupt(process, lambda: bool(provider.requests))
        ended = end(process)
    assert (ended.code, ended.answer["outcome"]) == (130, "stopped")
    assert ended.answer["reason"] == "asked"
    assert ended.answer["summary"] == "Stopped by Ctrl-C."
    assert ended.answer["seconds"] > 0
    assert ended.err == ""
    assert shop.sandboxes() == []
    assert shop.branches() == []


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGINT, "Ctrl-C"),
        (signal.SIGTERM, "SIGTERM"),
        (signal.SIGHUP, "SIGHUP"),
    ],
)
def test_u12_the_work_so_far_is_kept_on_a_branch(
    number: signal.Signals, name: str, shop: Shop
) -> None:
    with FakeProvider([call("shell", command=SLEEP)]) as provider:
        process = shop.start("resolve", *shop.local(), provider=provider)
        interrupt(process, lambda: is_asleep(shop), number)
        ended = end(process)
    assert ended.code == 130
    assert (
        steady(ended.out)
        == f"""\
stopped (asked) · 1 step · Ns · 120 tokens, price unknown
  asleep
  1 file changed
Stopped by {name}.
branch:        patchwright/wrong-sum
next:          git -C {shop.folder}/shop diff trunk...patchwright/wrong-sum
               git -C {shop.folder}/shop switch patchwright/wrong-sum
               patchwright replay RUN
"""
    )
    assert (
        ended.err
        == """\
✓ Repository checked out in a bubblewrap sandbox
  1  $ touch /workspace/repo/asleep; sleep 300
Stopping: the work so far is handed over. Press Ctrl-C again to end at once.
       no exit code
"""
    )
    assert shop.tree.git("show", "--format=", "--name-only", shop.branches()[0]) == (
        "asleep"
    )
    assert shop.sandboxes() == []


def test_u12_the_work_so_far_is_kept_as_a_patch(shop: Shop) -> None:
    arguments = ("resolve", *shop.local(), "--deliver", "patch")
    with FakeProvider([call("shell", command=SLEEP)]) as provider:
        process = shop.start(*arguments, "--quiet", provider=provider)
        interrupt(process, lambda: is_asleep(shop))
        ended = end(process)
    run = shop.run_id()[:8]
    patch = shop.folder / f"patchwright-{run}.patch"
    assert (ended.code, ended.err) == (130, "")
    assert (
        steady(ended.out)
        == f"""\
stopped (asked) · 1 step · Ns · 120 tokens, price unknown
  asleep
  1 file changed
Stopped by Ctrl-C.
patch:         {patch}
next:          git -C {shop.folder}/shop am {patch}
               patchwright replay RUN
"""
    )
    assert "asleep" in patch.read_text()
    assert shop.branches() == []


def test_u12_the_work_on_an_issue_of_the_forge_is_pushed(shop: Shop) -> None:
    with (
        FakeGitHub(enterprise=True) as github,
        FakeProvider([call("shell", command=SLEEP)]) as provider,
    ):
        token = github.add_user("alice")
        github.add_repository(REPO, default_branch="trunk", files=FILES)
        github.grant(REPO, "alice", "write")
        number = github.open_issue(REPO, "alice", "Wrong sum", "3 pieces cost 450.")
        process = shop.start(
            *("resolve", f"{github.web_url}/{REPO}/issues/{number}"),
            *("--model", MODEL),
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                "PATCHWRIGHT_GITHUB__TOKEN": token,
            },
        )
        interrupt(process, lambda: is_asleep(shop))
        ended = end(process)
        assert github.pull_requests(REPO) == []
        heads = github.git_folder(REPO) / "refs" / "heads" / "patchwright"
        assert [one.name for one in heads.iterdir()] == ["1-wrong-sum"]
    assert ended.code == 130, ended.err
    assert (
        steady(ended.out)
        == """\
stopped (asked) · 1 step · Ns · 120 tokens, price unknown
  asleep
  1 file changed
Stopped by Ctrl-C.
branch:        patchwright/1-wrong-sum
next:          git fetch origin patchwright/1-wrong-sum
               patchwright replay RUN
"""
    )


def test_u12_twice_ends_at_once(shop: Shop) -> None:
    # Nobody hears the first one before the proof has ended.
    turns: list[TurnLike] = [*fix_turns()[:3], PROOF]
    with FakeProvider(turns) as provider:
        process = shop.start("resolve", *shop.local(), provider=provider)
        interrupt(process, lambda: proves(shop))
        process.send_signal(signal.SIGTERM)
        ended = end(process)
    assert ended.code == 130
    assert re.fullmatch(
        r"stopped \(asked\) · 4 steps · [1-9]\d*s · .*", ended.out.splitlines()[0]
    )
    assert ended.out.splitlines()[-1].endswith(
        f"patchwright replay {shop.run_id()[:8]}"
    )
    assert "Traceback" not in ended.err
    assert shop.sandboxes() == []


def test_while_the_change_is_proven(shop: Shop) -> None:
    turns: list[TurnLike] = [*fix_turns()[:3], PROOF]
    with FakeProvider(turns) as provider:
        process = shop.start("resolve", *shop.local(), "--json", provider=provider)
        interrupt(process, lambda: proves(shop))
        ended = end(process)
    assert (ended.code, ended.answer["outcome"]) == (130, "stopped")
    assert ended.answer["iterations"] == 4
    assert ended.answer["branch"] == "patchwright/wrong-sum"
    assert [one["path"] for one in ended.answer["files"]] == [
        "cart.py",
        "test_pieces.py",
    ]
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
    assert (ended.code, ended.err) == (130, "")
    assert ended.answer["reason"] == "asked"
    assert ended.answer["error"] == "Stopped by Ctrl-C; nothing was shown."
    assert shop.sandboxes() == []
