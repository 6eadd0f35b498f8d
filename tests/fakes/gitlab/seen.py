"""What a test sees of a merge request, under the names that pull requests have."""

from dataclasses import dataclass

from tests.fakes.github import bare
from tests.fakes.gitlab.diffs import head_sha
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Thread


@dataclass(frozen=True, kw_only=True)
class MergeRequestSeen:
    number: int
    author: str
    title: str
    body: str
    draft: bool
    state: str
    is_open: bool
    head_repo: str
    head_branch: str
    head_sha: str
    base_branch: str
    base_sha: str
    labels: tuple[str, ...]
    assignees: tuple[str, ...]
    reviewers: tuple[str, ...]
    allow_collaboration: bool


def merge_request_seen(world: World, thread: Thread) -> MergeRequestSeen:
    merge = thread.proposed
    target = world.projects[thread.project]
    base = bare.find_commit(target.git, f"refs/heads/{merge.target_branch}")
    return MergeRequestSeen(
        number=thread.iid,
        author=world.users[thread.author].username,
        title=thread.title,
        body=thread.description,
        draft=thread.is_draft,
        state=thread.state,
        is_open=thread.is_open,
        head_repo=world.projects[merge.source_project].path,
        head_branch=merge.source_branch,
        head_sha=head_sha(world, thread) or "",
        base_branch=merge.target_branch,
        base_sha=base or "",
        labels=thread.labels,
        assignees=tuple(world.users[one].username for one in thread.assignees),
        reviewers=tuple(world.users[one].username for one in merge.reviewers),
        allow_collaboration=merge.allow_collaboration,
    )
