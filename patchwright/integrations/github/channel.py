"""GitHub as a service where people talk: issues, pull requests and their comments."""

from collections.abc import Iterator
from functools import cached_property

from github.Issue import Issue
from github.IssueComment import IssueComment
from github.NamedUser import NamedUser
from github.Organization import Organization
from github.Repository import Repository

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Post, Thread, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.github.api import Api
from patchwright.integrations.github.attachments import fetch_attachment
from patchwright.integrations.github.labels import swap_labels
from patchwright.integrations.github.payloads import GHOST
from patchwright.integrations.github.review_answers import (
    answer_review,
    find_review_answer,
    resolve_review,
)
from patchwright.integrations.github.reviews import fetch_reviews
from patchwright.integrations.github.webhook import SERVICE

SEEN = "eyes"
DECLINED = "-1"
# The opening text has no id of its own among the comments.
OPENING = "body"

Author = NamedUser | Organization


class GitHubChannel:
    """A `Channel`; the posts of a thread are its opening text and its comments."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def acknowledge(self, trigger: Trigger) -> None:
        self._react(trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        self._react(trigger, DECLINED)

    def fetch_thread(self, ref: ThreadRef) -> Thread:
        return self._api.ask(ref.repo, lambda repo: self._read(ref, repo))

    def find_post(self, ref: ThreadRef, mark: str) -> str | None:
        own_login = self._own_login
        return self._api.ask(
            ref.repo,
            lambda repo: next(
                _find_own(repo.get_issue(ref.number), own_login, mark), None
            ),
        )

    def post(self, ref: ThreadRef, text: str) -> str:
        return self._api.ask(
            ref.repo,
            lambda repo: str(repo.get_issue(ref.number).create_comment(text).id),
        )

    def edit(self, ref: ThreadRef, post_id: str, text: str) -> None:
        comment = int(post_id)
        self._api.ask(
            ref.repo,
            lambda repo: repo.get_issue(ref.number).get_comment(comment).edit(text),
        )

    def answer_review(self, ref: ThreadRef, review_thread: str, text: str) -> str:
        return answer_review(self._api, ref, review_thread, text)

    def find_review_answer(
        self, ref: ThreadRef, review_thread: str, mark: str
    ) -> str | None:
        own = self._own_login
        return find_review_answer(self._api, ref, review_thread, mark, own)

    def resolve_review(self, ref: ThreadRef, review_thread: str) -> None:
        resolve_review(self._api, ref, review_thread)

    def swap_labels(
        self, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        swap_labels(self._api, ref, add, remove)

    def fetch_attachment(self, ref: ThreadRef, url: str, max_bytes: int) -> bytes:
        return fetch_attachment(self._api, ref, url, max_bytes)

    @cached_property
    def _own_login(self) -> str:
        return self._api.tokens.fetch_login()

    def _react(self, trigger: Trigger, reaction: str) -> None:
        """React to what asked: the comment, or the thread's opening text."""

        def react(repo: Repository) -> None:
            issue = repo.get_issue(trigger.thread.number)
            if trigger.post_id:
                issue.get_comment(int(trigger.post_id)).create_reaction(reaction)
            else:
                issue.create_reaction(reaction)

        self._api.ask(trigger.thread.repo, react)

    def _read(self, ref: ThreadRef, repo: Repository) -> Thread:
        issue = repo.get_issue(ref.number)
        opening = Post(
            id=OPENING,
            author=_actor(issue.user),
            text=issue.body or "",
            at=issue.created_at,
        )
        comments = [_post(comment) for comment in issue.get_comments()]
        return Thread(
            ref=ref,
            title=issue.title,
            url=self._api.addresses.thread_url(ref),
            posts=(opening, *comments),
            reviews=fetch_reviews(repo, ref)
            if ref.kind is ThreadKind.PULL_REQUEST
            else (),
        )


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


def _post(comment: IssueComment) -> Post:
    return Post(
        id=str(comment.id),
        author=_actor(comment.user),
        text=comment.body or "",
        at=comment.created_at,
    )


def _actor(user: Author | None) -> Actor:
    if user is None:
        return Actor(service=SERVICE, login=GHOST)
    return Actor(
        service=SERVICE,
        login=user.login,
        external_id=str(user.id),
        is_bot=user.type == "Bot",
    )
