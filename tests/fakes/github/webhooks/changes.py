"""What happened in the world that a webhook may tell."""

from dataclasses import dataclass

from tests.fakes.github.state import Comment, Issue


@dataclass(frozen=True)
class IssueChange:
    """An issue or pull request was opened, edited, closed or reopened."""

    action: str
    issue: Issue
    actor: str
    before: Issue | None = None


@dataclass(frozen=True)
class LabelChange:
    """A label was put on an issue or pull request, or taken off."""

    action: str
    issue: Issue
    actor: str
    label: str


@dataclass(frozen=True)
class PullChange:
    """What only pull requests have: opened, pushed to, made a draft, made ready."""

    action: str
    issue: Issue
    actor: str
    before_sha: str | None = None
    after_sha: str | None = None


@dataclass(frozen=True)
class CommentChange:
    action: str
    comment: Comment
    actor: str
    before: Comment | None = None


Change = IssueChange | LabelChange | PullChange | CommentChange


def repo_of(change: Change) -> str:
    match change:
        case CommentChange():
            return change.comment.repo
        case IssueChange() | LabelChange() | PullChange():
            return change.issue.repo
