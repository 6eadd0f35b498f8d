"""Merge requests: opened, drafted, reviewed, approved and merged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.fakes.github import bare
from tests.fakes.gitlab.access import level_of
from tests.fakes.gitlab.acts.follow import follow_pushes
from tests.fakes.gitlab.acts.notes import Words, write_note, write_system_note
from tests.fakes.gitlab.acts.threads import Draft, begin
from tests.fakes.gitlab.diffs import diff_refs, head_sha, merge_status
from tests.fakes.gitlab.exchange import RefusedError, invalid, refused, unauthorized
from tests.fakes.gitlab.state import Level, Project, World
from tests.fakes.gitlab.thread_state import (
    Approval,
    Merge,
    Note,
    Position,
    Thread,
    ThreadKind,
)
from tests.fakes.gitlab.webhooks.outbox import one_request
from tests.fakes.gitlab.webhooks.threads import reviewers_facts, tell_thread

DRAFT = "Draft: "


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A merge request that somebody wants to open.

    `source` is a branch of the same project, or of the one at the path `fork`.
    """

    title: str
    source: str
    target: str
    description: str = ""
    fork: str = ""
    allow_collaboration: bool = False
    labels: tuple[str, ...] = ()
    assignees: tuple[int, ...] = ()
    reviewers: tuple[int, ...] = ()
    milestone: int | None = None
    remove_source: bool = False
    squash: bool = False


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Lines of the diff; one with `old_line` alone is of the version before."""

    path: str
    line: int
    start_line: int | None = None
    is_old: bool = False


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A note of a review that is still being written."""

    spot: Spot
    body: str


def open_merge(
    world: World, project: Project, proposal: Proposal, author: int
) -> Thread:
    """Open it, or raise what is wrong with it.

    One without any commit of its own is opened as well, as on the real one.
    """
    source = world.project(proposal.fork) if proposal.fork else project
    _check(world, project, source, proposal)
    start = bare.find_commit(project.git, f"refs/heads/{proposal.target}") or ""
    draft = Draft(
        title=proposal.title,
        description=proposal.description,
        labels=proposal.labels,
        assignees=proposal.assignees,
        milestone=proposal.milestone,
    )
    begun = begin(world, project, ThreadKind.MERGE_REQUEST, author, draft)
    merge = Merge(
        source_project=source.id,
        source_branch=proposal.source,
        target_branch=proposal.target,
        allow_collaboration=proposal.allow_collaboration and source.id != project.id,
        reviewers=proposal.reviewers,
        remove_source=proposal.remove_source,
        squash=proposal.squash,
        start_sha=start,
    )
    thread = replace(begun, merge=merge)
    branch = f"+refs/heads/{proposal.source}:{thread.head_ref}"
    bare.fetch(project.git, source.git, branch)
    world.put_thread(thread)
    tell_thread(world, thread, "open", author)
    return thread


def change_merge(world: World, thread: Thread, actor: int, **changes: Any) -> Thread:
    """Change what only a merge request has: its target, its reviewers."""
    project = world.projects[thread.project]
    target = changes.get("target_branch", thread.proposed.target_branch)
    tip = bare.find_commit(project.git, f"refs/heads/{target}")
    if tip is None:
        raise refused(400, {"target_branch": ["does not exist"]})
    changed = thread.with_merge(**changes)
    if changed == thread:
        return thread
    if target != thread.proposed.target_branch:
        changed = changed.with_merge(start_sha=tip)
    now = world.clock.now()
    changed = replace(changed, updated_at=now, updated_by=actor)
    world.put_thread(changed)
    before = set(thread.proposed.reviewers)
    new = [one for one in changed.proposed.reviewers if one not in before]
    if new:
        names = " and ".join(f"@{world.users[one].username}" for one in new)
        write_system_note(world, changed, actor, f"requested review from {names}")
    tell_thread(world, changed, "update", actor, before=thread)
    return changed


def approve(world: World, thread: Thread, actor: int, sha: str = "") -> None:
    """Approve it once; who names a commit means no other one.

    https://docs.gitlab.com/api/merge_request_approvals/
    """
    if sha and sha != head_sha(world, thread):
        head = head_sha(world, thread)
        raise refused(
            409, {"base": [f"SHA does not match HEAD of source branch: {head}"]}
        )
    project = world.projects[thread.project]
    person = world.users[actor]
    is_given = any(
        one.thread == thread.id and one.user == actor for one in world.approvals
    )
    if is_given or level_of(world, project, person) < Level.DEVELOPER:
        raise unauthorized()
    if thread.author == actor and project.approvals_required:
        raise unauthorized()
    at = world.clock.now()
    world.approvals.append(Approval(thread=thread.id, user=actor, at=at))
    world.review_states[thread.id, actor] = "approved"
    write_system_note(world, thread, actor, "approved this merge request")
    given = sum(one.thread == thread.id for one in world.approvals)
    action = "approved" if given >= project.approvals_required else "approval"
    tell_thread(world, thread, action, actor, before=thread)


def unapprove(world: World, thread: Thread, actor: int) -> None:
    kept = [
        one for one in world.approvals if (one.thread, one.user) != (thread.id, actor)
    ]
    if len(kept) == len(world.approvals):
        raise refused(404, "Not found")
    world.approvals[:] = kept
    world.review_states[thread.id, actor] = "unapproved"
    write_system_note(world, thread, actor, "unapproved this merge request")
    tell_thread(world, thread, "unapproved", actor, before=thread)


def submit_review(
    world: World,
    thread: Thread,
    author: int,
    *,
    body: str = "",
    remarks: Sequence[Remark] = (),
    state: str = "reviewed",
) -> list[Note]:
    """Submit what was written all at once; `state` may be `requested_changes`.

    GitLab tells of each note by an event of its own. All come of one request, and
    nothing but that says that they belong together.
    """
    notes = []
    with one_request(world):
        for remark in remarks:
            place = place_of(world, thread, remark.spot)
            words = Words(body=remark.body, type="DiffNote", position=place)
            notes.append(write_note(world, thread, author, words))
            thread = world.threads[thread.id]
        if body:
            notes.append(write_note(world, thread, author, Words(body=body)))
        if state == "approved":
            approve(world, world.threads[thread.id], author)
        else:
            _set_review_state(world, world.threads[thread.id], author, state)
    return notes


def place_of(world: World, thread: Thread, spot: Spot) -> Position:
    """Return the position of lines in the diff as it is now."""
    refs = diff_refs(world, thread)
    if refs is None:
        raise LookupError(f"!{thread.iid} has no diff")
    return Position(
        base_sha=refs.base_sha,
        start_sha=refs.start_sha,
        head_sha=refs.head_sha,
        old_path=spot.path,
        new_path=spot.path,
        old_line=spot.line if spot.is_old else None,
        new_line=None if spot.is_old else spot.line,
        start_old=spot.start_line if spot.is_old else None,
        start_new=None if spot.is_old else spot.start_line,
    )


def merge(world: World, thread: Thread, actor: int) -> Thread:
    """Merge it by a commit of its own, or raise why that cannot be."""
    status = merge_status(world, thread)
    if status.detailed != "mergeable":
        raise refused(405, "Method Not Allowed")
    project = world.projects[thread.project]
    target, head = thread.proposed.target_branch, head_sha(world, thread) or ""
    sha = _merge_commit(world, project, target, head, actor)
    now = world.clock.now()
    done = thread.with_merge(merged_at=now, merged_by=actor, merge_sha=sha)
    merged = world.put_thread(replace(done, updated_at=now))
    tell_thread(world, merged, "merge", actor, before=thread)
    source = world.projects[thread.proposed.source_project]
    if thread.proposed.remove_source and source.id == project.id:
        bare.git(
            source.git,
            "update-ref",
            "-d",
            f"refs/heads/{thread.proposed.source_branch}",
        )
    follow_pushes(world, project, actor)
    return merged


def _merge_commit(
    world: World, project: Project, target: str, head: str, actor: int
) -> str:
    ref = f"refs/heads/{target}"
    tree = bare.git(project.git, "merge-tree", "--write-tree", ref, head)
    tip = bare.find_commit(project.git, ref) or ""
    name = world.users[actor].username
    person = ("-c", f"user.name={name}", "-c", f"user.email={name}@example.test")
    parents = ("-p", tip, "-p", head, "-m", f"Merge branch into '{target}'")
    words = tree.decode().split()
    sha = bare.git(project.git, *person, "commit-tree", words[0], *parents)
    bare.git(project.git, "update-ref", ref, sha.decode().strip())
    return sha.decode().strip()


def _set_review_state(world: World, thread: Thread, actor: int, state: str) -> None:
    reviewers_before = reviewers_facts(world, thread)
    world.review_states[thread.id, actor] = state
    reviewers = thread.proposed.reviewers
    if actor not in reviewers and actor != thread.author:
        # Who reviews becomes one of the reviewers.
        world.put_thread(thread.with_merge(reviewers=(*reviewers, actor)))
    if state == "requested_changes":
        write_system_note(world, thread, actor, "requested changes")
        tell_thread(
            world,
            world.threads[thread.id],
            "update",
            actor,
            before=thread,
            reviewers_before=reviewers_before,
        )


def _check(world: World, project: Project, source: Project, proposal: Proposal) -> None:
    if proposal.source == proposal.target and source.id == project.id:
        text = "You can't use same project/branch for source and target"
        raise RefusedError(422, {"message": [text]})
    for name, where, branch in (
        ("source_branch", source, proposal.source),
        ("target_branch", project, proposal.target),
    ):
        if bare.find_commit(where.git, f"refs/heads/{branch}") is None:
            raise invalid(**{name: "does not exist"})
    for other in world.threads_of(project.id, ThreadKind.MERGE_REQUEST):
        theirs = other.proposed
        if other.is_open and (
            theirs.source_project,
            theirs.source_branch,
            theirs.target_branch,
        ) == (source.id, proposal.source, proposal.target):
            text = "Another open merge request already exists for this source branch"
            raise RefusedError(409, {"message": [f"{text}: !{other.iid}"]})
