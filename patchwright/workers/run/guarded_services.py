"""Channels and a forge that a worker writes to only while it holds its lease."""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import structlog

from patchwright.core.channel import Offers, ServiceChannel, Tracker
from patchwright.core.errors import ServiceError
from patchwright.core.forge import (
    CheckReport,
    Checks,
    CompetingPullRequest,
    Forge,
    GitCredential,
    NewCommit,
    PullMetadata,
    PullRequestText,
    Reviews,
)
from patchwright.core.text.escape import split_marks
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    Repository,
    TalkThread,
    Thread,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.remote import BranchUpdate, Push, Remote
from patchwright.workers.run.lease import LeaseGuard
from patchwright.workers.run.live_publisher import OutboxPublisher
from patchwright.workers.run.services import RunServices


@dataclass(frozen=True)
class ForgeReader:
    """The half of a `Forge` that changes nothing there, passed on as it is."""

    real: Forge

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        return self.real.fetch_permission(repo, actor)

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return self.real.fetch_repository(repo)

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        return self.real.fetch_pull_request(repo, number)

    def mint_credential(self, repo: RepoRef) -> GitCredential:
        return self.real.mint_credential(repo)

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        return self.real.find_pull_request(repo, head_branch)

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        return self.real.fetch_file(repo, path, ref)

    def has_branch(self, repo: RepoRef, branch: str) -> bool:
        return self.real.has_branch(repo, branch)

    def fetch_commit_message(self, repo: RepoRef, sha: str) -> str | None:
        return self.real.fetch_commit_message(repo, sha)

    def fetch_change_requesters(self, repo: RepoRef, number: int) -> tuple[str, ...]:
        return self.real.fetch_change_requesters(repo, number)

    def fetch_competing_pulls(
        self, repo: RepoRef, issue: int
    ) -> tuple[CompetingPullRequest, ...]:
        return self.real.fetch_competing_pulls(repo, issue)

    def fetch_checks(self, repo: RepoRef, sha: str) -> Checks:
        return self.real.fetch_checks(repo, sha)

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        return self.real.fetch_milestone(repo, issue)


R = TypeVar("R", bound=ThreadRef)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class GuardedChannel(Generic[R]):
    """A `ServiceChannel`."""

    real: ServiceChannel[R]
    guard: LeaseGuard

    def acknowledge(self, trigger: Trigger) -> None:
        self.guard.require()
        self.real.acknowledge(trigger)

    def decline(self, trigger: Trigger) -> None:
        self.guard.require()
        self.real.decline(trigger)

    def fetch_thread(self, ref: R) -> Thread:
        return self.real.fetch_thread(ref)

    def fetch_opening(self, ref: R) -> Thread:
        return self.real.fetch_opening(ref)

    def find_post(self, ref: R, mark: str) -> str | None:
        return self.real.find_post(ref, mark)

    def post(self, ref: R, text: str, offers: Offers = ()) -> str:
        """Post it once, whoever else posts the same: the first of the two stays."""
        self.guard.require()
        post_id = self.real.post(ref, text, offers)
        name = split_marks(text).name
        if not name or not self.guard.is_contested():
            return post_id
        try:
            first = self.real.find_post(ref, name) or post_id
            if first != post_id:
                log.warning("second_post_deleted", thread=str(ref))
                self.real.delete(ref, post_id)
        except ServiceError as error:
            log.warning("second_post_unknown", thread=str(ref), reason=error.reason)
            return post_id
        return first

    def edit(self, ref: R, post_id: str, text: str, offers: Offers = ()) -> None:
        with self.guard.writing():
            self.real.edit(ref, post_id, text, offers)

    def delete(self, ref: R, post_id: str) -> None:
        self.guard.require()
        self.real.delete(ref, post_id)

    def tell_privately(
        self, ref: R, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        self.guard.require()
        self.real.tell_privately(ref, actor, text, offers)

    def swap_labels(
        self, ref: R, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        with self.guard.writing():
            self.real.swap_labels(ref, add, remove)

    def fetch_attachment(
        self, ref: R, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return self.real.fetch_attachment(ref, url, max_bytes, post_id)


@dataclass(frozen=True)
class GuardedTracker(GuardedChannel[TalkThread]):
    """A `Tracker`."""

    real: Tracker

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        self.guard.require()
        return self.real.open_thread(trigger, text)

    def name_people(self, trigger: Trigger) -> Trigger:
        return self.real.name_people(trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        self.guard.require()
        self.real.attach_link(ref, url, title, key)

    def move(self, ref: TalkThread, status: str) -> None:
        self.guard.require()
        self.real.move(ref, status)


def with_lease_checks(services: RunServices, guard: LeaseGuard) -> RunServices:
    """Return the services of one run, each write to which asks for the lease first.

    This is the one place that every write of a run passes.
    """
    github, channel = services.code_host, services.channel
    return replace(
        services,
        live=OutboxPublisher(services.stores.effects, guard.lease),
        code_host=replace(
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
