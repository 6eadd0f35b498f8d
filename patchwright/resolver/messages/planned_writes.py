"""Say what a run would write, as a dry run shows it in place of writing it."""

from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.forge import CheckReport, PullMetadata, PullRequestText
from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger

# The number of the pull request that a dry run opens; no forge begins with it.
NO_NUMBER: Final = 0


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


def acknowledgement(trigger: Trigger) -> PlannedWrite:
    place = _describe_thread(trigger.thread)
    return PlannedWrite(words=f"React to the request in {place}: seen")


def declination(trigger: Trigger) -> PlannedWrite:
    place = _describe_thread(trigger.thread)
    return PlannedWrite(words=f"React to the request in {place}: declined")


def new_comment(ref: ThreadRef, text: str, offers: Offers) -> PlannedWrite:
    words = f"Comment on {_describe_thread(ref)}{_offered(offers)}"
    return PlannedWrite(words=words, text=text, thread=str(ref))


def changed_comment(
    ref: ThreadRef, post_id: str, text: str, offers: Offers
) -> PlannedWrite:
    words = f"Change the comment on {_describe_thread(ref)}{_offered(offers)}"
    return PlannedWrite(
        words=words, text=text, thread=str(ref), post=post_id, is_edit=True
    )


def deleted_comment(ref: ThreadRef, post_id: str) -> PlannedWrite:
    return PlannedWrite(
        words=f"Delete our comment {post_id} on {_describe_thread(ref)}"
    )


def private_message(
    ref: ThreadRef, actor: Actor, text: str, offers: Offers
) -> PlannedWrite:
    place = _describe_thread(ref)
    words = f"Send a private message to {actor.login}, in {place}{_offered(offers)}"
    return PlannedWrite(words=words, text=text)


def swapped_labels(
    ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
) -> PlannedWrite:
    words = f"Change labels of {_describe_thread(ref)}"
    return PlannedWrite(words=words, text=f"add {_named(add)}, remove {_named(remove)}")


def opened_thread(place: str, text: str) -> PlannedWrite:
    return PlannedWrite(words=f"Open a thread in {place}", text=text)


def attached_link(ref: ThreadRef, url: str, title: str) -> PlannedWrite:
    words = f"Add a link to {_describe_thread(ref)}"
    return PlannedWrite(words=words, text=f"{title} {url}".strip())


def moved_ticket(ref: ThreadRef, status: str) -> PlannedWrite:
    return PlannedWrite(words=f"Move {_describe_thread(ref)} to {status}")


def opened_pull_request(
    pull: ForgeThread, head_branch: str, base_branch: str, text: PullRequestText
) -> PlannedWrite:
    words = (
        f"Open {_proposal(pull.kind, text)} in {pull.repo.full_name}, from "
        f"`{head_branch}` into `{base_branch}`: “{text.title}”"
    )
    return PlannedWrite(words=words, text=text.body)


def updated_pull_request(pull: ForgeThread, text: PullRequestText) -> PlannedWrite:
    proposal = _proposal(pull.kind, text)
    words = f"Update {_describe_thread(pull)} as {proposal}: “{text.title}”"
    return PlannedWrite(words=words, text=text.body)


def put_metadata(pull: ForgeThread, pull_metadata: PullMetadata) -> PlannedWrite | None:
    """Return what is put on a pull request, None if that is nothing."""
    put = pull_metadata.model_dump(exclude_defaults=True)
    listed = "\n".join(f"- {key}: {_listed(value)}" for key, value in put.items())
    if not listed:
        return None
    return PlannedWrite(words=f"Set on {_describe_pull(pull)}", text=listed)


def requested_review(pull: ForgeThread, reviewers: tuple[str, ...]) -> PlannedWrite:
    asked = ", ".join(reviewers)
    return PlannedWrite(words=f"Ask {asked} to review {_describe_pull(pull)}")


def reported_check(repo: RepoRef, sha: str, report: CheckReport) -> PlannedWrite:
    where = f"{sha[:10]} of {repo.full_name}"
    words = f"Report a check on {where}: “{report.title}” ({report.state})"
    return PlannedWrite(words=words, text=report.summary)


def review_answer(ref: ForgeThread, review_thread: str, text: str) -> PlannedWrite:
    words = f"Answer a review thread of {_describe_thread(ref)}"
    return PlannedWrite(words=words, text=text, thread=review_thread)


def deleted_review_answer(ref: ForgeThread, answer: str) -> PlannedWrite:
    place = _describe_thread(ref)
    return PlannedWrite(words=f"Delete our answer {answer} to a review of {place}")


def resolved_review(ref: ForgeThread, review_thread: str) -> PlannedWrite:
    place = _describe_thread(ref)
    return PlannedWrite(words=f"Resolve the review thread {review_thread} of {place}")


def pushed_branch(
    url: str, branch: str, at: str | None, sha: str, files: tuple[str, ...]
) -> PlannedWrite:
    """Return the push of `sha` to a branch of `url` that is `at` another commit."""
    over = f", which is at {at[:10]} now" if at else ""
    words = (
        f"Push {sha[:10]} with {count_noun(len(files), 'file')} to the "
        f"branch `{branch}` of {url}{over}"
    )
    listed = "\n".join(f"- {inline_code(name)}" for name in files)
    return PlannedWrite(words=words, text=listed)


def _describe_thread(ref: ThreadRef) -> str:
    if isinstance(ref, ForgeThread):
        return f"{ref.repo.full_name}{ref.name}"
    return f"{ref.name} of {ref.service}"


def _offered(offers: Offers) -> str:
    return f", with {_named([one.words for one in offers])}" if offers else ""


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _proposal(kind: ThreadKind, text: PullRequestText) -> str:
    return f"a draft {kind.words}" if text.draft else f"a {kind.words}"


def _describe_pull(pull: ForgeThread) -> str:
    if pull.number == NO_NUMBER:
        return f"the new {pull.kind.words}"
    return _describe_thread(pull)


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
