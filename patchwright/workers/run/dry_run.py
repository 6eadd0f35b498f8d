"""A dry run: read everything, write nothing outside, and keep what it would write."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from pydantic import TypeAdapter

from patchwright.core.channel import ChannelRouter, Offers, ServiceChannel, Tracker
from patchwright.core.errors import InvalidRequestError, LeaseLostError
from patchwright.core.forge import (
    CheckReport,
    NewCommit,
    PullMetadata,
    PullRequestText,
    Reviews,
)
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    TalkThread,
    Thread,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.remote import BranchUpdate, Remote
from patchwright.resolver.job import Lease
from patchwright.resolver.messages.elements import count_noun
from patchwright.resolver.publish.destination import Invitation
from patchwright.workers.run.guarded_services import ForgeReader
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.run_store import Stores

DRY_RUN_ARTIFACT: Final = "rehearsal"


class PlannedWrite(Value):
    """One thing that would be written: `words` say what is done with the `text`.

    `post` names a post of `thread` that there would be, or that is there already.
    """

    words: str
    text: str = ""
    thread: str = ""
    post: str = ""
    is_edit: bool = False

    @property
    def whole(self) -> str:
        return f"{self.words}:\n\n{self.text}" if self.text else f"{self.words}."


_PLANNED_WRITES: Final = TypeAdapter(list[PlannedWrite])


def list_planned_writes(stores: Stores, job_id: JobId) -> tuple[str, ...]:
    """Return what a run would have written, in order; Markdown, one text for each."""
    return tuple(one.whole for one in _load(stores.outcomes, job_id))


class DryRun:
    """What one run would write, kept with its job as soon as it is told.

    Of the changes to a post only the last is kept: so much is shown while a run works.
    """

    def __init__(
        self, outcomes: OutcomeStore, lease: Lease, redact: Callable[[str], str]
    ) -> None:
        self._outcomes, self._lease, self._redact = outcomes, lease, redact
        self._told = _load(outcomes, lease.job_id)
        # The status of a run is shown by a thread of its own.
        self._lock = threading.Lock()

    def record(self, words: str, text: str = "") -> None:
        with self._lock:
            self._add(PlannedWrite(words=words, text=text))

    def post(self, thread: str, words: str, text: str) -> str:
        """Tell of a new post and return the id that it has here."""
        with self._lock:
            number = 1 + sum(bool(one.post) for one in self._told)
            post = f"rehearsed-{number}"
            self._add(PlannedWrite(words=words, text=text, thread=thread, post=post))
        return post

    def edit(self, thread: str, post: str, words: str, text: str) -> None:
        changed = PlannedWrite(
            words=words, text=text, thread=thread, post=post, is_edit=True
        )
        with self._lock:
            self._told = [
                one for one in self._told if not (one.is_edit and one.post == post)
            ]
            self._add(changed)

    def find(self, thread: str, mark: str) -> str | None:
        """Return the id of the newest post there that contains `mark`."""
        with self._lock:
            fits = (
                one.post
                for one in reversed(self._told)
                if one.post and one.thread == thread and mark in one.text
            )
            return next(fits, None)

    def _add(self, told: PlannedWrite) -> None:
        clean = told.replace(
            words=self._redact(told.words), text=self._redact(told.text)
        )
        self._told = [*self._told, clean]
        # Whoever has the job by now tells it anew.
        with suppress(LeaseLostError):
            kept = _PLANNED_WRITES.dump_json(self._told)
            self._outcomes.keep_artifact(self._lease, DRY_RUN_ARTIFACT, kept)


def _load(outcomes: OutcomeStore, job_id: JobId) -> list[PlannedWrite]:
    kept = outcomes.load_artifact(job_id, DRY_RUN_ARTIFACT)
    return _PLANNED_WRITES.validate_json(kept) if kept else []


R = TypeVar("R", bound=ThreadRef)


def describe_thread(ref: ThreadRef) -> str:
    if isinstance(ref, ForgeThread):
        return f"{ref.repo.full_name}{ref.name}"
    return f"{ref.name} of {ref.service}"


@dataclass(frozen=True)
class DryRunChannel(Generic[R]):
    """A `ServiceChannel`."""

    real: ServiceChannel[R]
    dry_run: DryRun

    def acknowledge(self, trigger: Trigger) -> None:
        place = describe_thread(trigger.thread)
        self.dry_run.record(f"React to the request in {place}: it was seen")

    def decline(self, trigger: Trigger) -> None:
        place = describe_thread(trigger.thread)
        self.dry_run.record(f"React to the request in {place}: it is not followed")

    def fetch_thread(self, ref: R) -> Thread:
        return self.real.fetch_thread(ref)

    def fetch_opening(self, ref: R) -> Thread:
        return self.real.fetch_opening(ref)

    def find_post(self, ref: R, mark: str) -> str | None:
        return self.dry_run.find(str(ref), mark) or self.real.find_post(ref, mark)

    def post(self, ref: R, text: str, offers: Offers = ()) -> str:
        words = f"Comment on {describe_thread(ref)}{_offered(offers)}"
        return self.dry_run.post(str(ref), words, text)

    def edit(self, ref: R, post_id: str, text: str, offers: Offers = ()) -> None:
        words = f"Change the comment on {describe_thread(ref)}{_offered(offers)}"
        self.dry_run.edit(str(ref), post_id, words, text)

    def delete(self, ref: R, post_id: str) -> None:
        self.dry_run.record(f"Delete our comment {post_id} on {describe_thread(ref)}")

    def tell_privately(
        self, ref: R, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        words = f"Tell {actor.login} alone, in {describe_thread(ref)}{_offered(offers)}"
        self.dry_run.record(words, text)

    def swap_labels(
        self, ref: R, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        words = f"Swap labels of {describe_thread(ref)}"
        self.dry_run.record(words, f"add {_named(add)}, take off {_named(remove)}")

    def fetch_attachment(
        self, ref: R, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return self.real.fetch_attachment(ref, url, max_bytes, post_id)


@dataclass(frozen=True)
class DryRunTracker(DryRunChannel[TalkThread]):
    """A `Tracker`."""

    real: Tracker

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        """Tell of the thread; the one that is named for want of it goes on."""
        thread = trigger.thread
        if not isinstance(thread, TalkThread):
            raise TypeError(f"{thread} is not a thread of a service for talk")
        self.dry_run.record(f"Open a thread in {thread.place}", text)
        return thread

    def name_people(self, trigger: Trigger) -> Trigger:
        return self.real.name_people(trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        del key
        words = f"Show a link beside {describe_thread(ref)}"
        self.dry_run.record(words, f"{title} {url}".strip())

    def move(self, ref: TalkThread, status: str) -> None:
        self.dry_run.record(f"Move {describe_thread(ref)} to {status}")


def _offered(offers: Offers) -> str:
    return f", with {_named([one.label for one in offers])}" if offers else ""


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


# The number of the pull request that a rehearsal opens; no forge begins with it.
NO_NUMBER: Final = 0


@dataclass(frozen=True)
class DryRunForge(ForgeReader):
    """A `Forge`."""

    dry_run: DryRun

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        self.dry_run.record(
            f"Open {_kind(text)} in {repo.full_name}, from `{head_branch}` into "
            f"`{base_branch}`: “{text.title}”",
            text.body,
        )
        return PullRequest(
            number=NO_NUMBER,
            url="",
            head_branch=head_branch,
            base_branch=base_branch,
            head_sha="",
            draft=text.draft,
            same_repository=True,
        )

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        self.dry_run.record(
            f"Describe {repo.full_name}#{number} as {_kind(text)}: “{text.title}”",
            text.body,
        )
        return self.real.fetch_pull_request(repo, number)

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        put = pull_metadata.model_dump(exclude_defaults=True)
        listed = "\n".join(f"- {key}: {_listed(value)}" for key, value in put.items())
        if listed:
            self.dry_run.record(f"Put on {_pull(repo, number)}", listed)
        return ()

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        asked = ", ".join(reviewers)
        self.dry_run.record(f"Ask {asked} to review {_pull(repo, number)}")

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        where = f"{sha[:10]} of {repo.full_name}"
        words = f"Report a check on {where}: “{report.title}” ({report.state})"
        self.dry_run.record(words, report.summary)

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        """Leave it to git to push, which tells of it."""
        del repo, commit
        raise InvalidRequestError(f"no commit is made on {branch} in a rehearsal")


@dataclass(frozen=True)
class DryRunReviews:
    """Reviews of a forge, as `Reviews`."""

    real: Reviews
    dry_run: DryRun

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        words = f"Answer a review thread of {describe_thread(ref)}"
        return self.dry_run.post(review_thread, words, text)

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        return self.dry_run.find(review_thread, mark) or self.real.find_review_answer(
            ref, review_thread, mark
        )

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        words = f"Delete our answer {answer} to a review of {describe_thread(ref)}"
        self.dry_run.record(words)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        words = f"Resolve the review thread {review_thread} of {describe_thread(ref)}"
        self.dry_run.record(words)


def _kind(text: PullRequestText) -> str:
    return "a draft pull request" if text.draft else "a pull request"


def _pull(repo: RepoRef, number: int) -> str:
    if number == NO_NUMBER:
        return "the new pull request"
    return f"{repo.full_name}#{number}"


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def as_dry_run(services: RunServices, lease: Lease) -> RunServices:
    """Return the services of one run, which tell what they would write."""
    redact = services.stores.events.redact
    dry_run = DryRun(services.stores.outcomes, lease, lambda text: str(redact(text)))
    github, talk = services.code_host, services.chat
    return replace(
        services,
        code_host=replace(
            github,
            forge=DryRunForge(github.forge, dry_run),
            reviews=DryRunReviews(github.reviews, dry_run),
        ),
        channel=_dry_run_channel(services.channel, dry_run),
        # A link that is sent to nobody must not be made.
        chat=replace(talk, invite=_invite, renew=_invite),
        mirrors=services.mirrors.with_push(DryRunPush(dry_run)),
    )


def _dry_run_channel(channel: ChannelRouter, dry_run: DryRun) -> ChannelRouter:
    # What no service knows has pages of ours alone.
    return replace(
        channel,
        forge=DryRunChannel(channel.forge, dry_run),
        trackers={
            name: DryRunTracker(tracker, dry_run)
            for name, tracker in channel.trackers.items()
        },
    )


def _invite(_actor: Actor) -> Invitation:
    return Invitation(text="Show who you are where the code lives, by a link of yours.")


@dataclass(frozen=True)
class DryRunPush:
    """Pushes nothing, and tells what it would."""

    dry_run: DryRun

    def __call__(self, store: GitDir, remote: Remote, update: BranchUpdate) -> None:
        # What a push would refuse is refused.
        update.ref()
        code = ObjectStore(store)
        changed = code.changed_paths(code.parents_of(update.sha)[0], update.sha)
        at = update.expect
        over = f", which is at {at[:10]} now" if at else ""
        self.dry_run.record(
            f"Push {update.sha[:10]} with {count_noun(len(changed), 'file')} to the "
            f"branch `{update.branch}` of {remote.url}{over}",
            "\n".join(f"- {inline_code(change.shown)}" for change in changed),
        )
