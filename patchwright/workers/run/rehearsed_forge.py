"""A forge that is read as ever, and tells what it would write."""

from dataclasses import dataclass
from typing import Final

from patchwright.core.errors import InvalidRequestError
from patchwright.core.forge import (
    PullMetadata,
    CheckReport,
    NewCommit,
    PullRequestText,
    Reviews,
)
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
)
from patchwright.workers.run.forge_readings import ForgeReader
from patchwright.workers.run.rehearsal import DryRun
from patchwright.workers.run.rehearsed_channel import describe_thread

# The number of the pull request that a rehearsal opens; no forge begins with it.
NO_NUMBER: Final = 0


@dataclass(frozen=True)
class DryRunForge(ForgeReader):
    """A `Forge`."""

    rehearsal: DryRun

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        self.rehearsal.record(
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
        self.rehearsal.record(
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
            self.rehearsal.record(f"Put on {_pull(repo, number)}", listed)
        return ()

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None:
        asked = ", ".join(reviewers)
        self.rehearsal.record(f"Ask {asked} to review {_pull(repo, number)}")

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        where = f"{sha[:10]} of {repo.full_name}"
        words = f"Report a check on {where}: “{report.title}” ({report.state})"
        self.rehearsal.record(words, report.summary)

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        """Leave it to git to push, which tells of it."""
        del repo, commit
        raise InvalidRequestError(f"no commit is made on {branch} in a rehearsal")


@dataclass(frozen=True)
class DryRunReviews:
    """Reviews of a forge, as `Reviews`."""

    real: Reviews
    rehearsal: DryRun

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        words = f"Answer a review thread of {describe_thread(ref)}"
        return self.rehearsal.post(review_thread, words, text)

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        return self.rehearsal.find(review_thread, mark) or self.real.find_review_answer(
            ref, review_thread, mark
        )

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        words = f"Delete our answer {answer} to a review of {describe_thread(ref)}"
        self.rehearsal.record(words)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        words = f"Resolve the review thread {review_thread} of {describe_thread(ref)}"
        self.rehearsal.record(words)


def _kind(text: PullRequestText) -> str:
    return "a draft pull request" if text.draft else "a pull request"


def _pull(repo: RepoRef, number: int) -> str:
    if number == NO_NUMBER:
        return "the new pull request"
    return f"{repo.full_name}#{number}"


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
