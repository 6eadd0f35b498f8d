"""GitHub as a channel: issues, pull requests, discussions, reactions, labels."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from github import GithubException, UnknownObjectException
from github.Issue import Issue
from github.NamedUser import NamedUser
from github.Organization import Organization
from github.Repository import Repository

from patchwright.core.channel import Offers
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, Thread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.attachments import fetch_attachment
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.reviews import (
    answer_review,
    delete_review_answer,
    fetch_review_posts,
    fetch_reviews,
    find_review_answer,
    resolve_review,
)
from patchwright.integrations.github.threads import (
    ThreadPosts,
    add_comment,
    delete_comment,
    edit_comment,
    fetch_discussion,
    fetch_opening,
    fetch_posts,
    find_own_comment,
)
from patchwright.integrations.github.threads import (
    add_discussion_reaction as react_in_discussion,
)
from patchwright.integrations.github.webhooks.payloads import (
    review_comment_of,
    review_of,
)

_ALREADY_THERE: Final = 422
_DENIED: Final = 403
# By the last word of a label's name; people may change the colour later.
_COLOURS: Final = {
    "running": "fbca04",
    "waiting": "1d76db",
    "done": "0e8a16",
    "failed": "d93f0b",
}
_COLOUR: Final = "ededed"


def swap_labels(
    api: GitHubClient, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    api.ask(ref.repo, lambda repo: _swap_labels(repo, ref.number, add, remove))


def _swap_labels(
    repo: Repository, number: int, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    issue = repo.get_issue(number)
    # A label is the same label however it is written.
    present = {label.name.lower() for label in issue.labels}
    missing = [name for name in add if name.lower() not in present]
    for name in missing:
        _ensure_label(repo, name)
    if missing:
        issue.add_to_labels(*missing)
    for name in remove:
        if name.lower() in present:
            _remove_label(repo, issue, name)


def _ensure_label(repo: Repository, name: str) -> None:
    """Make a label in its colour: GitHub makes a missing one too, but in grey.

    With only `triage` the bot cannot make labels, but it can use existing ones.
    https://github.com/github/docs/issues/35718
    """
    if _has_label(repo, name):
        return
    colour = _COLOURS.get(name.rpartition(":")[2], _COLOUR)
    try:
        repo.create_label(name, colour)
    except UnknownObjectException:
        return
    except GithubException as error:
        if error.status not in (_ALREADY_THERE, _DENIED):
            raise


def _has_label(repo: Repository, name: str) -> bool:
    try:
        repo.requester.requestJsonAndCheck("GET", f"{repo.url}/labels/{_quoted(name)}")
    except UnknownObjectException:
        return False
    return True


def _remove_label(repo: Repository, issue: Issue, name: str) -> None:
    try:
        repo.requester.requestJsonAndCheck(
            "DELETE", f"{issue.url}/labels/{_quoted(name)}"
        )
    except UnknownObjectException:
        # Somebody was faster.
        return


def _quoted(name: str) -> str:
    return quote(name, safe="")


def react(repo: Repository, thread: ForgeThread, post_id: str, reaction: str) -> None:
    """React to what asked: the comment, or the thread's opening text.

    REST knows no reactions to a review; they go to its pull request. Raises the errors
    of PyGithub.
    https://docs.github.com/en/rest/reactions/reactions
    """
    if thread.kind is ThreadKind.DISCUSSION:
        react_in_discussion(repo, thread, post_id, reaction)
    elif (comment := review_comment_of(post_id)) is not None:
        pull = repo.get_pull(thread.number)
        pull.get_review_comment(comment).create_reaction(reaction)
    elif post_id and review_of(post_id) is None:
        issue = repo.get_issue(thread.number)
        issue.get_comment(int(post_id)).create_reaction(reaction)
    else:
        repo.get_issue(thread.number).create_reaction(reaction)


SEEN = "eyes"
DECLINED = "-1"
# Whoever has not called us is not to be voted down.
NOT_TAKEN = "confused"

Author = NamedUser | Organization
# Returns a text for a thread with what shows later that it is ours.
AddSignature = Callable[[ForgeThread, str], str]


class GitHubChannel:
    """A channel of the threads beside the code.

    What a message offers, its words say as well: GitHub has no buttons. The posts of a
    thread are its opening text, its comments and the words of reviews.
    """

    def __init__(self, api: GitHubClient, signed: AddSignature | None = None) -> None:
        self._api = api
        self._signed = signed or _without_signature

    def with_signature(self, signed: AddSignature) -> "GitHubChannel":
        """Return a channel that puts a signature on what it writes."""
        return GitHubChannel(self._api, signed)

    def acknowledge(self, trigger: Trigger) -> None:
        self._react(trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        is_reply = trigger.kind is TriggerKind.REPLY
        self._react(trigger, NOT_TAKEN if is_reply else DECLINED)

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        return self._api.ask(ref.repo, lambda repo: self._read(ref, repo))

    def fetch_opening(self, ref: ForgeThread) -> Thread:
        """Read an issue or pull request, whichever has that number."""
        title, opening, kind = self._api.ask(
            ref.repo, lambda repo: fetch_opening(repo, ref)
        )
        found = ref.replace(kind=kind)
        return self._thread(found, ThreadPosts(title=title, posts=(opening,)))

    def find_post(self, ref: ForgeThread, mark: str) -> str | None:
        if ref.kind is ThreadKind.DISCUSSION:
            return self._api.ask(
                ref.repo, lambda repo: find_own_comment(repo, ref, mark)
            )
        own_login = self._api.own_login
        return self._api.ask(
            ref.repo,
            lambda repo: next(
                _find_own(repo.get_issue(ref.number), own_login, mark), None
            ),
        )

    def post(self, ref: ForgeThread, text: str, offers: Offers = ()) -> str:  # noqa: ARG002 - see the class
        text = self._signed(ref, text)
        if ref.kind is ThreadKind.DISCUSSION:
            return self._api.ask(ref.repo, lambda repo: add_comment(repo, ref, text))
        return self._api.ask(
            ref.repo,
            lambda repo: str(repo.get_issue(ref.number).create_comment(text).id),
        )

    def edit(
        self,
        ref: ForgeThread,
        post_id: str,
        text: str,
        offers: Offers = (),  # noqa: ARG002 - see the class
    ) -> None:
        text = self._signed(ref, text)
        if ref.kind is ThreadKind.DISCUSSION:
            self._api.ask(ref.repo, lambda repo: edit_comment(repo, post_id, text))
            return
        comment = int(post_id)
        self._api.ask(
            ref.repo,
            lambda repo: repo.get_issue(ref.number).get_comment(comment).edit(text),
        )

    def delete(self, ref: ForgeThread, post_id: str) -> None:
        with suppress(NotFoundError):
            self._api.ask(ref.repo, lambda repo: _delete(repo, ref, post_id))

    def tell_privately(
        self,
        ref: ForgeThread,
        actor: Actor,
        text: str,  # noqa: ARG002 - there is no way to say it
        offers: Offers = (),  # noqa: ARG002 - the same
    ) -> None:
        raise InvalidRequestError(
            f"GitHub has no private messages: nothing was sent to {actor.login} in "
            f"{ref}"
        )

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        return answer_review(self._api, ref, review_thread, text)

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        own = self._api.own_login
        return find_review_answer(self._api, ref, review_thread, mark, own)

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        resolve_review(self._api, ref, review_thread)

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        delete_review_answer(self._api, ref, answer)

    def swap_labels(
        self, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        swap_labels(self._api, ref, add, remove)

    def fetch_attachment(
        self, ref: ForgeThread, url: str, max_bytes: int, post_id: str = ""
    ) -> bytes:
        return fetch_attachment(self._api, ref, url, max_bytes, post_id)

    def _react(self, trigger: Trigger, reaction: str) -> None:
        thread, post_id = trigger.forge_thread, trigger.post_id
        self._api.ask(thread.repo, lambda repo: react(repo, thread, post_id, reaction))

    def _read(self, ref: ForgeThread, repo: Repository) -> Thread:
        if ref.kind is ThreadKind.DISCUSSION:
            return self._thread(ref, fetch_discussion(repo, ref))
        if ref.kind is ThreadKind.ISSUE:
            return self._thread(ref, fetch_posts(repo, ref))
        thread = self._thread(ref, fetch_posts(repo, ref))
        opening, *comments = thread.posts
        posts = sorted(
            (*comments, *fetch_review_posts(repo, ref)), key=lambda post: post.at
        )
        reviews = fetch_reviews(repo, ref)
        return thread.replace(posts=(opening, *posts), reviews=reviews)

    def _thread(self, ref: ForgeThread, found: ThreadPosts) -> Thread:
        return Thread(
            ref=ref,
            title=found.title,
            url=self._api.addresses.thread_url(ref),
            posts=found.posts,
            unread=found.unread,
        )


def _delete(repo: Repository, ref: ForgeThread, post_id: str) -> None:
    if ref.kind is ThreadKind.DISCUSSION:
        delete_comment(repo, post_id)
    else:
        repo.get_issue(ref.number).get_comment(int(post_id)).delete()


def _without_signature(_ref: ForgeThread, text: str) -> str:
    return text


def _find_own(issue: Issue, own_login: str, mark: str) -> Iterator[str]:
    for comment in issue.get_comments():
        if mark in (comment.body or "") and _is_own(comment.user, own_login):
            yield str(comment.id)


def _is_own(user: Author | None, own_login: str) -> bool:
    if user is None:
        return False
    # A token of Actions cannot say whose it is, only that it is no person's.
    if not own_login:
        return user.type == "Bot"
    return user.login == own_login
