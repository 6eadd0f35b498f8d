"""After a push: tell, and let merge requests follow their branches."""

from dataclasses import replace

from tests.fakes.github import bare
from tests.fakes.gitlab.acts.notes import write_system_note
from tests.fakes.gitlab.diffs import commits_of, head_sha, merge_base
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.thread_state import Thread
from tests.fakes.gitlab.webhooks.pushes import tell_pushes
from tests.fakes.gitlab.webhooks.threads import tell_thread


def follow_pushes(world: World, project: Project, actor: int) -> None:
    """Tell what became of branches and tags since this was last asked."""
    moved = tell_pushes(world, project, actor)
    for thread in list(world.threads.values()):
        merge = thread.merge
        if merge is None or not thread.is_open:
            continue
        if merge.source_project == project.id and merge.source_branch in moved:
            follow_source(world, thread, actor)
        elif thread.project == project.id and merge.target_branch in moved:
            _notice_merge(world, thread, actor)


def follow_source(world: World, thread: Thread, actor: int) -> None:
    """Take over where the source branch stands now."""
    merge = thread.proposed
    source = world.projects[merge.source_project]
    target = world.projects[thread.project]
    branch = f"refs/heads/{merge.source_branch}"
    tip = bare.find_commit(source.git, branch)
    before = head_sha(world, thread)
    if tip is None:
        text = f"deleted source branch `{merge.source_branch}`"
        write_system_note(world, thread, actor, text)
        return
    if tip == before:
        return
    bare.fetch(target.git, source.git, f"+{branch}:{thread.head_ref}")
    start = bare.find_commit(target.git, f"refs/heads/{merge.target_branch}") or ""
    _reset_approvals(world, thread)
    moved = replace(
        thread.with_merge(start_sha=start),
        updated_at=world.clock.now(),
    )
    world.put_thread(moved)
    count = len(commits_of(world, moved))
    text = f"added {count} commit{'' if count == 1 else 's'}"
    write_system_note(world, moved, actor, text)
    tell_thread(world, moved, "update", actor, before=thread, oldrev=before)


def _reset_approvals(world: World, thread: Thread) -> None:
    """Approvals stay unless the project takes them off when commits are added."""
    if world.projects[thread.project].approvals_required:
        world.approvals[:] = [one for one in world.approvals if one.thread != thread.id]


def _notice_merge(world: World, thread: Thread, actor: int) -> None:
    """Whose head has come into its target is merged, however that was done."""
    project = world.projects[thread.project]
    head = head_sha(world, thread)
    target = bare.find_commit(
        project.git, f"refs/heads/{thread.proposed.target_branch}"
    )
    if head is None or target is None or not commits_of(world, thread):
        return
    if merge_base(project.git, head, target) != head:
        return
    now = world.clock.now()
    merged = replace(
        thread.with_merge(merged_at=now, merged_by=actor, merge_sha=target),
        updated_at=now,
    )
    world.put_thread(merged)
    tell_thread(world, merged, "merge", actor, before=thread)
