"""What a test sees of a pull request: its record and where git says it stands."""

from dataclasses import dataclass

from tests.fakes.github.render.pulls import base_sha, head_sha
from tests.fakes.github.state import Issue, World


@dataclass(frozen=True, kw_only=True)
class PullRequestSeen:
    number: int
    author: str
    title: str
    body: str
    draft: bool
    is_open: bool
    head_repo: str
    head_branch: str
    head_sha: str
    base_branch: str
    base_sha: str
    labels: tuple[str, ...]
    maintainer_can_modify: bool


def pull_request_seen(world: World, issue: Issue) -> PullRequestSeen:
    pull = issue.pull
    if pull is None:
        raise LookupError(f"{issue.repo}#{issue.number} is no pull request")
    return PullRequestSeen(
        number=issue.number,
        author=issue.author,
        title=issue.title,
        body=issue.body or "",
        draft=pull.draft,
        is_open=issue.is_open,
        head_repo=pull.head_repo,
        head_branch=pull.head_branch,
        head_sha=head_sha(world, issue),
        base_branch=pull.base_branch,
        base_sha=base_sha(world, issue),
        labels=issue.labels,
        maintainer_can_modify=pull.maintainer_can_modify,
    )
