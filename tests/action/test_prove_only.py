"""Any pull request is proven in a job of a workflow, without a model."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.action.scene import ALICE, EVE, Scene, playing
from tests.fakes.github.acts.pulls import Proposal
from tests.flow.story import CART, NEW_TEST, REPO

# A machine with much else to do takes minutes for what usually takes seconds.
pytestmark = pytest.mark.timeout(600)

FIXED = CART.replace("sum(prices)", "sum(p * n for p, n in zip(prices, pieces))")
FILES = {"cart.py": FIXED, "test_pieces.py": NEW_TEST}
# What a workflow that only proves asks for.
RIGHTS = {"contents": "read", "pull_requests": "write"}
INPUTS = {
    "prove_only": "true",
    "llm_model": "",
    "llm_base_url": "",
    "test_command": "python3 -m unittest test_pieces",
}


def open_pull(scene: Scene, author: str, files: Mapping[str, str] = FILES) -> int:
    is_fork = author == EVE
    if is_fork:
        scene.github.fork(REPO, EVE)
    repo = "eve/shop" if is_fork else REPO
    scene.github.commit_files(repo, "topic", files, author=author)
    head = "eve:topic" if is_fork else "topic"
    proposal = Proposal(title="Sum", head=head, base="main")
    return scene.github.open_pull_request(REPO, author, proposal)


@pytest.mark.parametrize("author", [ALICE, EVE])
def test_a_pull_request_is_proven_on_it(author: str, tmp_path: Path) -> None:
    with playing(tmp_path, [], permissions=RIGHTS) as scene:
        scene.environment["LLM_API_KEY"] = ""
        number = open_pull(scene, author)
        _, event = scene.happened()
        name = "pull_request_target" if author == EVE else "pull_request"
        run = scene.run((name, event), actor=author, **INPUTS)
        [pull] = scene.github.pull_requests(REPO)
        run.said(
            outcome="answered",
            error_code="",
            proof="proven",
            pr_number=str(number),
            head_sha=pull.head_sha,
            tests_before="failed (exit 1)",
            tests_after="passed",
            model="",
        )
        assert not run.failed
        assert scene.reply(number).startswith("🟢 **Proven**")
        assert "🟢 **Proven**" in run.summary
        assert run.artifact().keys() == {"evidence.json"}
        assert scene.provider.requests == []


def test_a_change_that_is_not_proven_can_fail_the_step(tmp_path: Path) -> None:
    with playing(tmp_path, [], permissions=RIGHTS) as scene:
        code_alone = {"cart.py": FILES["cart.py"]}
        number = open_pull(scene, ALICE, code_alone)
        inputs = {**INPUTS, "test_command": "python3 -m unittest test_cart"}
        run = scene.run(scene.happened(), **inputs, fail_on="unproven")
        run.said(outcome="answered", proof="not-proven")
        assert run.failed
        assert scene.reply(number).startswith("🟡 **Not proven**")
