"""A forge, and a way to push, that are written only while a worker holds its lease."""

from dataclasses import dataclass, replace

from patchwright.core.forge import (
    PullMetadata,
    CheckReport,
    NewCommit,
    PullRequestText,
    Reviews,
)
from patchwright.core.text.marks import split_marks
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
)
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.remote import BranchUpdate, Push, Remote
from patchwright.workers.run.forge_readings import ForgeReader
from patchwright.workers.run.guarded_channel import GuardedTracker, GuardedChannel
from patchwright.workers.run.lease_guard import LeaseGuard
from patchwright.workers.run.services import RunServices


def with_lease_checks(services: RunServices, guard: LeaseGuard) -> RunServices:
    """Return the services of one run, each write to which asks for the lease first.

    This is the one place that every write of a run passes.
    """
    github, channel = services.code_host, services.channel
    return replace(
        services,
        github=replace(
            github,
            forge=GuardedForge(github.forge, guard),
            reviews=GuardedReviews(github.reviews, guard),
        ),
        # What no service knows has pages of ours alone.
        channel=replace(
            channel,
            forge=GuardedChannel(channel.forge, guard),
            trackers={
                name: GuardedTracker(guard=guard, real=tracker)
                for name, tracker in channel.trackers.items()
            },
        ),
        mirrors=services.mirrors.with_push(
            GuardedPush(services.mirrors.push_by, guard)
        ),
    )


@dataclass(frozen=True)
class GuardedForge(ForgeReader):
    """A `Forge`."""

    guard: LeaseGuard

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        self.guard.require()
        return self.real.open_pull_request(repo, head_branch, base_branch, text)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        self.guard.require()
        return self.real.update_pull_request(repo, number, text)

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        self.guard.require()
        return self.real.set_pull_metadata(repo, number, pull_metadata)

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        self.guard.require()
        self.real.request_review(repo, number, reviewers)

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        with self.guard.writing():
            self.real.report_check(repo, sha, report)

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        self.guard.require()
        return self.real.commit_on_branch(repo, branch, commit)


@dataclass(frozen=True)
class GuardedReviews:
    """Reviews of a forge, as `Reviews`."""

    real: Reviews
    guard: LeaseGuard

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        """Answer once, whoever else answers the same: the first of the two stays."""
        self.guard.require()
        answer = self.real.answer_review(ref, review_thread, text)
        name = split_marks(text).name
        if not name or not self.guard.is_contested():
            return answer
        first = self.real.find_review_answer(ref, review_thread, name) or answer
        if first != answer:
            self.real.delete_review_answer(ref, answer)
        return first

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        return self.real.find_review_answer(ref, review_thread, mark)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        self.guard.require()
        self.real.resolve_review(ref, review_thread)

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        self.guard.require()
        self.real.delete_review_answer(ref, answer)


@dataclass(frozen=True)
class GuardedPush:
    """A `Push`."""

    real: Push
    guard: LeaseGuard

    def __call__(self, store: GitDir, remote: Remote, update: BranchUpdate) -> None:
        self.guard.require()
        self.real(store, remote, update)
