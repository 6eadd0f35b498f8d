"""Channels and a forge whose writes all pass the one writer of a run."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from patchwright.core.channel import ChannelRouter, Offers, ServiceChannel, Tracker
from patchwright.core.forge import (
    CheckReport,
    Forge,
    ForgeChecks,
    ForgeCommits,
    ForgePullMetadata,
    NewCommit,
    PullMetadata,
    PullRequestText,
    Reviews,
)
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeForms,
    ForgeThread,
    PullRequest,
    RepoRef,
    TalkThread,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.remote import BranchUpdate, Push, Remote
from patchwright.resolver.messages import planned_writes as planned
from patchwright.workers.jobs.lease import (
    LeasedWriter,
    LeaseGuard,
    OutboxPublisher,
    ServiceWriter,
)
from patchwright.workers.store.run_store import RunServices


def _go_on() -> None:
    """Do nothing, in place of a write that is only planned."""


R = TypeVar("R", bound=ThreadRef)


class GuardedChannel(Generic[R]):
    """A `ServiceChannel`; methods that only read belong to the real channel."""

    def __init__(self, real: ServiceChannel[R], writer: ServiceWriter) -> None:
        self.real, self.writer = real, writer
        self.fetch_thread, self.fetch_opening = real.fetch_thread, real.fetch_opening
        self.fetch_attachment = real.fetch_attachment

    def acknowledge(self, trigger: Trigger) -> None:
        planned_write = partial(planned.acknowledgement, trigger)
        self.writer.write(
            planned_write, partial(self.real.acknowledge, trigger), _go_on
        )

    def decline(self, trigger: Trigger) -> None:
        planned_write = partial(planned.declination, trigger)
        self.writer.write(planned_write, partial(self.real.decline, trigger), _go_on)

    def find_post(self, ref: R, mark: str) -> str | None:
        return self.writer.find(str(ref), mark, partial(self.real.find_post, ref))

    def post(self, ref: R, text: str, offers: Offers = ()) -> str:
        return self.writer.post(
            planned.new_comment(ref, text, offers),
            partial(self.real.post, ref, text, offers),
            partial(self.real.find_post, ref),
            partial(self.real.delete, ref),
        )

    def edit(self, ref: R, post_id: str, text: str, offers: Offers = ()) -> None:
        planned_write = planned.changed_comment(ref, post_id, text, offers)
        self.writer.overwrite(
            planned_write, partial(self.real.edit, ref, post_id, text, offers)
        )

    def delete(self, ref: R, post_id: str) -> None:
        planned_write = partial(planned.deleted_comment, ref, post_id)
        self.writer.write(
            planned_write, partial(self.real.delete, ref, post_id), _go_on
        )

    def tell_privately(
        self, ref: R, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        planned_write = partial(planned.private_message, ref, actor, text, offers)
        tell = partial(self.real.tell_privately, ref, actor, text, offers)
        self.writer.write(planned_write, tell, _go_on)

    def swap_labels(
        self, ref: R, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        planned_write = planned.swapped_labels(ref, add, remove)
        self.writer.overwrite(
            planned_write, partial(self.real.swap_labels, ref, add, remove)
        )


class GuardedTracker(GuardedChannel[TalkThread]):
    """A `Tracker`."""

    def __init__(self, real: Tracker, writer: ServiceWriter) -> None:
        super().__init__(real, writer)
        self.tracker, self.name_people = real, real.name_people
        self.find_repository = real.find_repository

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        """Open it; where that is not done, the one named for want of it goes on."""
        thread = trigger.thread
        if not isinstance(thread, TalkThread):
            raise TypeError(f"{thread} is not a thread of a service for talk")
        return self.writer.write(
            partial(planned.opened_thread, thread.place, text),
            partial(self.tracker.open_thread, trigger, text),
            lambda: thread,
        )

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        planned_write = partial(planned.attached_link, ref, url, title)
        attach = partial(self.tracker.attach_link, ref, url, title, key)
        self.writer.write(planned_write, attach, _go_on)

    def move(self, ref: TalkThread, status: str) -> None:
        planned_write = partial(planned.moved_ticket, ref, status)
        self.writer.write(
            planned_write, partial(self.tracker.move, ref, status), _go_on
        )


class GuardedForge:
    """A `Forge` with the capabilities of the real forge, which also does the reads."""

    def __init__(self, real: Forge, writer: ServiceWriter, forms: ForgeForms) -> None:
        self.real, self.writer, self.forms = real, writer, forms
        self.fetch_permission = real.fetch_permission
        self.fetch_repository = real.fetch_repository
        self.fetch_pull_request = real.fetch_pull_request
        self.find_pull_request = real.find_pull_request
        self.mint_credential = real.mint_credential
        self.fetch_file, self.has_branch = real.fetch_file, real.has_branch
        self.checks = real.checks and GuardedChecks(real.checks, writer)
        self.commits = real.commits and GuardedCommits(real.commits, writer)
        self.pull_metadata = real.pull_metadata and GuardedPullMetadata(
            real.pull_metadata, writer, forms
        )

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        def made_up() -> PullRequest:
            return PullRequest(
                number=planned.NO_NUMBER,
                url="",
                head_branch=head_branch,
                base_branch=base_branch,
                head_sha="",
                draft=text.draft,
                same_repository=True,
            )

        what = (head_branch, base_branch, text)
        pull = self.forms.pull(repo, planned.NO_NUMBER)
        planned_write = partial(planned.opened_pull_request, pull, *what)
        opened = partial(self.real.open_pull_request, repo, *what)
        return self.writer.write(planned_write, opened, made_up)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        pull = self.forms.pull(repo, number)
        return self.writer.write(
            partial(planned.updated_pull_request, pull, text),
            partial(self.real.update_pull_request, repo, number, text),
            partial(self.real.fetch_pull_request, repo, number),
        )


class GuardedPullMetadata:
    """The `ForgePullMetadata` of a forge."""

    def __init__(
        self, real: ForgePullMetadata, writer: ServiceWriter, forms: ForgeForms
    ) -> None:
        self.real, self.writer, self.forms = real, writer, forms
        self.fetch_change_requesters = real.fetch_change_requesters
        self.fetch_competing_pulls = real.fetch_competing_pulls
        self.fetch_milestone = real.fetch_milestone

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        pull = self.forms.pull(repo, number)
        planned_write = partial(planned.put_metadata, pull, pull_metadata)
        put = partial(self.real.set_pull_metadata, repo, number, pull_metadata)
        return self.writer.write(planned_write, put, tuple)

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        pull = self.forms.pull(repo, number)
        planned_write = partial(planned.requested_review, pull, reviewers)
        ask = self.real.request_review
        self.writer.write(planned_write, partial(ask, repo, number, reviewers), _go_on)


class GuardedChecks:
    """The `ForgeChecks` of a forge."""

    def __init__(self, real: ForgeChecks, writer: ServiceWriter) -> None:
        self.real, self.writer = real, writer
        self.fetch_checks = real.fetch_checks

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        planned_write = planned.reported_check(repo, sha, report)
        report_check = self.real.report_check
        self.writer.overwrite(planned_write, partial(report_check, repo, sha, report))


class GuardedCommits:
    """The `ForgeCommits` of a forge."""

    def __init__(self, real: ForgeCommits, writer: ServiceWriter) -> None:
        self.real, self.writer = real, writer
        self.fetch_commit_message = real.fetch_commit_message

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        """Let the forge make the commit; in a dry run git plans a push instead."""

        def leave_to_git() -> str:
            raise InvalidRequestError(f"no commit is made on {branch} in a dry run")

        make = partial(self.real.commit_on_branch, repo, branch, commit)
        return self.writer.write(lambda: None, make, leave_to_git)


@dataclass(frozen=True)
class GuardedReviews:
    """Reviews of a forge, as `Reviews`."""

    real: Reviews
    writer: ServiceWriter

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        return self.writer.post(
            planned.review_answer(ref, review_thread, text),
            partial(self.real.answer_review, ref, review_thread, text),
            partial(self.real.find_review_answer, ref, review_thread),
            partial(self.real.delete_review_answer, ref),
        )

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        look = partial(self.real.find_review_answer, ref, review_thread)
        return self.writer.find(review_thread, mark, look)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        planned_write = partial(planned.resolved_review, ref, review_thread)
        resolve = partial(self.real.resolve_review, ref, review_thread)
        self.writer.write(planned_write, resolve, _go_on)

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        planned_write = partial(planned.deleted_review_answer, ref, answer)
        delete = partial(self.real.delete_review_answer, ref, answer)
        self.writer.write(planned_write, delete, _go_on)


@dataclass(frozen=True)
class GuardedPush:
    """A `Push`."""

    real: Push
    writer: ServiceWriter

    def __call__(self, store: GitDir, remote: Remote, update: BranchUpdate) -> None:
        # Refuse in a dry run too what a real push would refuse.
        update.ref()

        def planned_write() -> planned.PlannedWrite:
            code = ObjectStore(store)
            changed = code.changed_paths(code.parents_of(update.sha)[0], update.sha)
            files = tuple(change.shown for change in changed)
            return planned.pushed_branch(
                remote.url, update.branch, update.expect, update.sha, files
            )

        self.writer.write(
            planned_write, partial(self.real, store, remote, update), _go_on
        )


def with_writer(services: RunServices, writer: ServiceWriter) -> RunServices:
    """Return the services of one run, each write to which passes its writer.

    Every write of a run passes this place.
    """
    host = services.code_host
    return replace(
        services,
        code_host=replace(
            host,
            forge=GuardedForge(host.forge, writer, services.directory.forge.forms),
            reviews=host.reviews and GuardedReviews(host.reviews, writer),
        ),
        channel=_with_writer(services.channel, writer),
        mirrors=services.mirrors.with_push(
            GuardedPush(services.mirrors.push_by, writer)
        ),
    )


def _with_writer(channel: ChannelRouter, writer: ServiceWriter) -> ChannelRouter:
    # The channel for our own pages stays as it is: it writes to no other service.
    return replace(
        channel,
        forge=GuardedChannel(channel.forge, writer),
        trackers={
            name: GuardedTracker(tracker, writer)
            for name, tracker in channel.trackers.items()
        },
    )


def with_lease_checks(services: RunServices, guard: LeaseGuard) -> RunServices:
    """Return the services of one run, which check the lease before each write."""
    live = OutboxPublisher(services.stores.effects, guard.lease)
    return replace(with_writer(services, LeasedWriter(guard)), live=live)
