"""All that we say about a run is taken by both flavours, and read back as said."""

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.messages.result import final_comment
from patchwright.resolver.messages.status import (
    DeliveryResult,
    Progress,
    mark,
    progress_comment,
)
from tests.adapters.jira.conftest import Scene
from tests.unit.resolver.endings import FRAME, ended, proven

ODD = "See *x*, {code}, [~ann], !a.png!, <b>, `a|b`, h1. and {{y}}\n\n- [ ] box"
DELIVERED = DeliveryResult(
    branch="fix",
    branch_url="https://github.example/acme/shop/tree/fix",
    pull_request=5,
    pull_request_url="https://github.example/acme/shop/pull/5",
    remarks=("One remark.",),
)


def test_progress_is_taken(scene: Scene) -> None:
    progress = Progress(
        state="running",
        done=("Reproduced: `pytest -k sum` fails",),
        doing="Fix",
        notes=("1 hidden block was removed",),
    )
    post = scene.channel.post(scene.ref, progress_comment(progress, FRAME))
    assert scene.channel.find_post(scene.ref, mark(FRAME.run_id)) == post


@pytest.mark.parametrize("kind", list(OutcomeKind))
def test_every_ending_is_taken(scene: Scene, kind: OutcomeKind) -> None:
    outcome = ended(kind, ODD, warnings=("CI was changed.",), notes=("a", "b") * 3)
    text = final_comment(outcome, DELIVERED, FRAME)
    scene.channel.post(scene.ref, text)
    said = scene.channel.fetch_thread(scene.ref).posts[-1].text
    assert "CI was changed." in said
    assert f"run={FRAME.run_id} -->" in said


def test_proof_is_taken_whatever_its_length(scene: Scene) -> None:
    text = final_comment(
        proven(f"{ODD}\n\n```\n{'x = {1}' * 6_000}\n```"), DELIVERED, FRAME
    )
    post = scene.channel.post(scene.ref, text)
    scene.channel.edit(scene.ref, post, text)
    assert len(scene.fake.comments(scene.key)) == 1
