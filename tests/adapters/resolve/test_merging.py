"""The agent's sandbox has the merge under way, also when it is made anew."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.llm.model import Models
from patchwright.core.runtime import Runtime
from patchwright.core.types.base import RandomIds
from patchwright.resolver.checkout import Checkout, open_checkout, save_checkpoint
from tests.adapters.resolve.workbench import Bench, bench
from tests.fakes.scripted_model import ScriptedModel

IDS = RandomIds()


@dataclass
class KeptBundle:
    """Keeps the newest work tree in memory."""

    bundle: bytes = b""

    def save(self, bundle: bytes) -> None:
        self.bundle = bundle

    def load(self) -> bytes | None:
        return self.bundle or None


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Bench]:
    """Set the task to merge `trunk` into a branch; both have changed one line."""
    kept = KeptBundle()
    models = Models.only(ScriptedModel([]))
    with bench(tmp_path, models, checkpoints=kept) as made:
        origin = made.repository
        origin.git("switch", "--quiet", "--create", "ours")
        origin.write("cart.py", b"ours\n")
        ours = origin.commit()
        origin.git("switch", "--quiet", "trunk")
        origin.write("cart.py", b"theirs\n")
        task = made.task.replace(base_sha=ours, merge_sha=origin.commit())
        yield replace(made, task=task)


def open_again(scene: Bench, *, is_resumed: bool) -> Checkout:
    return open_checkout(
        scene.task,
        scene.dependencies,
        is_resumed=is_resumed,
        is_incomplete=False,
        before_rebuild=lambda: None,
    )


def sh(runtime: Runtime, command: str) -> str:
    output = runtime.run(RunCommand(command=command, session="look"), IDS.new())
    assert isinstance(output, CommandOutput)
    return output.output


def test_a_conflict_is_there_from_the_start(scene: Bench) -> None:
    checkout = open_again(scene, is_resumed=False)
    try:
        assert sh(checkout.runtime, "git status --short") == "UU cart.py\n"
        assert sh(checkout.runtime, "grep -c '^[<>]' cart.py") == "2\n"
    finally:
        checkout.runtime.close()


def test_a_lost_sandbox_is_made_anew_with_the_merge_as_far_as_it_was(
    scene: Bench,
) -> None:
    first = open_again(scene, is_resumed=False)
    sh(first.runtime, "echo both > cart.py")
    save_checkpoint(first, scene.task, scene.dependencies, up_to=1)
    first.runtime.close()
    second = open_again(scene, is_resumed=True)
    try:
        assert sh(second.runtime, "cat cart.py") == "both\n"
        merged = sh(second.runtime, "git rev-parse MERGE_HEAD").strip()
        assert merged == scene.task.merge_sha
    finally:
        second.runtime.close()
