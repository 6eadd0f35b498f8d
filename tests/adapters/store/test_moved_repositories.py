"""A repository that is renamed waits for whoever writes about it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind
from patchwright.core.types.triggers import RepositoryMoved, Trigger, TriggerKind
from patchwright.core.webhook import DeliveryVerdict
from patchwright.workers.store.jobs import change_trigger
from patchwright.workers.store.leases import lock_conversation
from tests.adapters.store.world import ALICE, REPO, World


def asked_in_chat(text: str = "") -> Trigger:
    return Trigger(
        key="k1",
        kind=TriggerKind.COMMENT_MENTION,
        actor=ALICE,
        thread=TalkThread(
            service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.1"
        ),
        request="fix it",
        text=text,
        repo=REPO,
    )


def test_a_repository_that_moves_waits_for_whoever_writes_its_conversations(
    world: World,
) -> None:
    """What was written under its lock is moved, and not overwritten.

    A conversation of Slack has no repository in its own row, only in that of its job.
    """
    job_id = world.deliver(asked_in_chat()).job_id
    assert job_id is not None
    new = RepoRef(forge="github", full_name="acme/store")
    with ThreadPoolExecutor(1) as mover:
        with world.database.writing() as connection:
            lock_conversation(connection, world.conversation(job_id))
            moves = RepositoryMoved(old=REPO, new=new)
            moved = mover.submit(world.deliver, moves)
            with pytest.raises(TimeoutError):
                moved.result(0.3)
            change_trigger(connection, job_id, asked_in_chat("the answer"))
        moved.result(10)
    left = world.job(job_id).trigger
    assert (left.text, left.repo) == ("the answer", new)


def test_a_rename_that_comes_again_moves_nothing_more(world: World) -> None:
    """Another repository may have the old name by then."""
    new = RepoRef(forge="github", full_name="acme/store")
    moved = RepositoryMoved(old=REPO, new=new, id="7")
    world.deliver(moved)
    job_id = world.deliver(asked_in_chat()).job_id
    assert job_id is not None
    assert world.deliver(moved, "again").verdict is DeliveryVerdict.DUPLICATE
    assert world.job(job_id).trigger.repo == REPO
