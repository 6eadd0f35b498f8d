"""A service that counts what is written to it, by workers that can be killed."""

from collections import Counter
from dataclasses import dataclass, field

from patchwright.core.channel import Offers
from patchwright.core.forge import (
    CheckReport,
    Forge,
    ForgeChecks,
    ForgeCommits,
    ForgePullMetadata,
    NewCommit,
    PullMetadata,
    PullRequestText,
    require_capability,
)
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
    TalkThread,
    Thread,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from tests.invariants.mortal import Fate, KilledError


@dataclass
class Post:
    thread: str
    text: str


@dataclass
class CountingService:
    """What people see; `doing` is the effect for the sake of which it is written to.

    Every write is a point where its worker may die: before it, or after it.
    """

    fate: Fate = field(default_factory=lambda: Fate(None))
    doing: str = ""
    writes: list[str] = field(default_factory=list)
    deaths: Counter[str] = field(default_factory=Counter)
    posts: list[Post] = field(default_factory=list)
    pulls: list[PullRequest] = field(default_factory=list)

    def meet(self) -> None:
        try:
            self.fate.meet()
        except KilledError:
            self.deaths[self.doing] += 1
            raise

    def note(self) -> None:
        self.writes.append(self.doing)
        self.meet()


@dataclass(frozen=True)
class CountingChannel:
    """A `Tracker`, and so a `ServiceChannel`."""

    service: CountingService

    def _write(self) -> None:
        self.service.meet()
        self.service.note()

    def find_repository(self, ref: TalkThread) -> str:
        del ref
        return ""

    def acknowledge(self, trigger: Trigger) -> None:
        del trigger
        self._write()

    def decline(self, trigger: Trigger) -> None:
        del trigger
        self._write()

    def fetch_thread(self, ref: ThreadRef) -> Thread:
        raise NotImplementedError(str(ref))

    def fetch_opening(self, ref: ThreadRef) -> Thread:
        raise NotImplementedError(str(ref))

    def find_post(self, ref: ThreadRef, mark: str) -> str | None:
        self.service.meet()
        fits = (
            str(number)
            for number, post in enumerate(self.service.posts)
            if post.thread == str(ref) and mark in post.text
        )
        return next(fits, None)

    def post(self, ref: ThreadRef, text: str, offers: Offers = ()) -> str:
        del offers
        self.service.meet()
        self.service.posts.append(Post(str(ref), text))
        self.service.note()
        return str(len(self.service.posts) - 1)

    def edit(
        self, ref: ThreadRef, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        del offers
        self.service.meet()
        post = self.service.posts[int(post_id)]
        assert post.thread == str(ref)
        post.text = text
        self.service.note()

    def delete(self, ref: ThreadRef, post_id: str) -> None:
        raise AssertionError(f"{post_id} was posted in {ref} a second time")

    def tell_privately(
        self, ref: ThreadRef, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        del ref, actor, text, offers
        self._write()

    def swap_labels(
        self, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        del ref, add, remove
        self._write()

    def fetch_attachment(
        self, ref: ThreadRef, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        raise NotImplementedError(f"{ref} {url} {max_bytes} {post_id}")

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        raise NotImplementedError(f"{trigger} {text}")

    def name_people(self, trigger: Trigger) -> Trigger:
        return trigger

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        del ref, url, title, key
        self._write()

    def move(self, ref: TalkThread, status: str) -> None:
        del ref, status
        self._write()


class CountingForge:
    """A `Forge` with all capabilities, where everybody may write.

    One branch is there to be proposed.
    """

    def __init__(self, real: Forge, service: CountingService) -> None:
        self.service = service
        self.fetch_pull_request = real.fetch_pull_request
        self.mint_credential = real.mint_credential
        self.fetch_file, self.has_branch = real.fetch_file, real.has_branch
        checks = require_capability(real.checks)
        self.fetch_checks = checks.fetch_checks
        pulls = require_capability(real.pull_metadata)
        self.fetch_change_requesters = pulls.fetch_change_requesters
        self.fetch_competing_pulls = pulls.fetch_competing_pulls
        commits = require_capability(real.commits)
        self.fetch_commit_message = commits.fetch_commit_message

    @property
    def checks(self) -> ForgeChecks:
        return self

    @property
    def pull_metadata(self) -> ForgePullMetadata:
        return self

    @property
    def commits(self) -> ForgeCommits:
        return self

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        del repo, actor
        return Permission.WRITE

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return Repository(
            ref=repo, default_branch="main", clone_url="", web_url="", private=False
        )

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        del repo, issue
        return None

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        del repo
        self.service.meet()
        found = (one for one in self.service.pulls if one.head_branch == head_branch)
        return next(found, None)

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        self.service.meet()
        number = len(self.service.pulls) + 100
        pull = PullRequest(
            number=number,
            url=f"https://forge.test/{repo.full_name}/pull/{number}",
            head_branch=head_branch,
            base_branch=base_branch,
            head_sha="",
            draft=text.draft,
            same_repository=True,
        )
        self.service.pulls.append(pull)
        self.service.note()
        return pull

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        del repo, text
        self.service.meet()
        [found] = [one for one in self.service.pulls if one.number == number]
        self.service.note()
        return found

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        del repo, number, pull_metadata
        self.service.meet()
        self.service.note()
        return ()

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        raise NotImplementedError(f"{repo} {number} {reviewers}")

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        del repo, sha, report
        self.service.meet()
        self.service.note()

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        raise InvalidRequestError(f"no {commit} for {branch} of {repo}")
