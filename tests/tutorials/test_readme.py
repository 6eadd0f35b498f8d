"""Each block of the README does what it says, in a new terminal of a bare machine.

It has another release of the system than the tutorials do, and installs with pipx.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.llm.library import load_litellm
from tests.architecture.tree import ROOT
from tests.provision.waiting import wait_until
from tests.tutorials.following import Place, follow_file
from tests.tutorials.machine import LONG_S, PIPX_READER, WITHOUT_ENGINE, machine
from tests.tutorials.model import RECORDING
from tests.tutorials.world import world

# Two installations, of which each takes minutes on a busy machine.
pytestmark = pytest.mark.timeout(1_800)

README = ROOT / "README.md"
CHECKOUT = "/home/reader/my-repository"
# Whoever commits there is named at that moment alone: git knows nobody else.
COMMIT = "git -c user.name=Alice -c user.email=alice@example.com commit -qm 'A shop'"
COST = re.compile(
    r"takes (?P<calls>\d+) model calls, about (?P<tokens_in>[\d,]+) tokens in and "
    r"(?P<tokens_out>[\d,]+) out: \$(?P<usd>[\d.]+) at \$3 and \$15 per million tokens"
)
# Each provider counts tokens in its own way.
ROUGHLY = 0.15


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with (
        world(tmp_path) as ready,
        machine(
            ready.network, ready.hosts, ready.bundle, WITHOUT_ENGINE, PIPX_READER
        ) as own,
    ):
        yield Place(own, ready)


def test_each_block_works_as_pasted(place: Place) -> None:
    follow_file(README, place, {"have a checkout": have_a_checkout}, is_fresh=True)
    branches = place.machine.run("git", "-C", CHECKOUT, "branch", "--list")
    assert "patchwright/" in branches
    service = place.machine.terminal("service")
    wait_until(lambda: "setup_needed" in service.output, "a link", LONG_S)
    cost_is_as_stated(place)


def have_a_checkout(place: Place) -> None:
    """Let it be the shop of the demo, whose project was cloned before."""
    place.machine.type(f"cp -r patchwright/demo/example {CHECKOUT}")
    place.machine.type(f"cd {CHECKOUT} && git init -q && git add . && {COMMIT}")
    place.machine.folder = CHECKOUT


def cost_is_as_stated(place: Place) -> None:
    """Count the tokens of what was sent, and of what the recorded model answered."""
    stated = COST.search(README.read_text())
    assert stated
    sent = [_counted(_prompt(one)) for one in place.world.model.requests]
    replies = json.loads(RECORDING.read_bytes())["replies"]
    answered = sum(_counted(json.dumps(one)) for one in replies)
    assert len(sent) == int(stated["calls"])
    assert sum(sent) == pytest.approx(_number(stated["tokens_in"]), rel=ROUGHLY)
    assert answered == pytest.approx(_number(stated["tokens_out"]), rel=ROUGHLY)
    usd = (sum(sent) * 3 + answered * 15) / 1_000_000
    assert usd == pytest.approx(float(stated["usd"]), rel=ROUGHLY)


def _prompt(request: dict[str, object]) -> str:
    parts = {name: request.get(name) for name in ("system", "messages", "tools")}
    return json.dumps(parts, ensure_ascii=False)


def _counted(text: str) -> int:
    litellm: Any = load_litellm().litellm
    return int(litellm.token_counter(model="gpt-4o", text=text))


def _number(text: str) -> int:
    return int(text.replace(",", ""))
