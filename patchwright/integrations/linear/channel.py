"""Linear as a channel: sessions of its own, or else comments and reactions."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from patchwright.core.channel import Offers
from patchwright.core.text.escape import Marked, split_marks
from patchwright.core.types.errors import (
    AlreadyExistsError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.linear.client import LinearClient, url_key_of
from patchwright.integrations.linear.issues import (
    IssueMoves,
    change_labels,
    fetch_repository,
)
from patchwright.integrations.linear.markdown import to_linear, with_offers
from patchwright.integrations.linear.sessions import (
    LinearSessions,
    Nothing,
    own_id,
    read_post_id,
)
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.threads import (
    fetch_opening,
    fetch_thread,
    issue_id,
)
from patchwright.integrations.linear.webhooks.payloads import (
    SERVICE,
    JsonObject,
    LinearModel,
    LinearPerson,
    Text,
)

COMMENT_QUERY: Final = """
query Comment($id: String!) { comment(id: $id) { id archivedAt } }
"""
PERSON_QUERY: Final = """
query Person($id: String!) { user(id: $id) { id name displayName app url } }
"""
CREATE_COMMENT: Final = """
mutation CreateComment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}
"""
UPDATE_COMMENT: Final = """
mutation UpdateComment($id: String!, $input: CommentUpdateInput!) {
  commentUpdate(id: $id, input: $input) { success }
}
"""
DELETE_COMMENT: Final = """
mutation DeleteComment($id: String!) { commentDelete(id: $id) { success } }
"""
CREATE_REACTION: Final = """
mutation CreateReaction($input: ReactionCreateInput!) {
  reactionCreate(input: $input) { success }
}
"""
CREATE_ATTACHMENT: Final = """
mutation CreateAttachment($input: AttachmentCreateInput!) {
  attachmentCreate(input: $input) { success }
}
"""
LINK_PULL_REQUEST: Final = """
mutation LinkPullRequest($issue: String!, $url: String!, $title: String) {
  attachmentLinkGitHubPR(issueId: $issue, url: $url, title: $title) { success }
}
"""
LINK_MERGE_REQUEST: Final = """
mutation LinkMergeRequest(
  $issue: String!, $url: String!, $title: String, $number: Float!, $project: String!
) {
  attachmentLinkGitLabMR(
    issueId: $issue, url: $url, title: $title, number: $number,
    projectPathWithNamespace: $project
  ) { success }
}
"""

SEEN: Final = "eyes"
DECLINED: Final = "confused"
READING: Final = "Reading the issue."
NOT_FOLLOWED: Final = "I do not follow this request."
# A comment that somebody has deleted keeps its id; then there is another.
_MAX_IDS: Final = 3
_MAX_TITLE: Final = 255
_PULL: Final = re.compile(r"/[^/]+/[^/]+/pull/\d+\Z")
_MERGE: Final = re.compile(r"/(?P<project>.+?)/-/merge_requests/(?P<number>\d+)\Z")
_REFUSALS: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)


class _OwnComment(LinearModel):
    id: str
    archived_at: Text = ""


class _OwnCommentAnswer(LinearModel):
    comment: _OwnComment


class _CreatedComment(LinearModel):
    comment: _OwnComment


class _CreateCommentAnswer(LinearModel):
    comment_create: _CreatedComment


class _PersonAnswer(LinearModel):
    user: LinearPerson


class LinearChannel:
    """A `Tracker`: tickets that move, and a session where Linear has begun one.

    Its posts are comments, which are edited in place. In a session they are activities,
    and a later one takes the place of an earlier.
    """

    def __init__(self, api: LinearClient, settings: LinearSettings) -> None:
        self._api, self._settings = api, settings
        self.sessions = LinearSessions(api)
        self._moves = IssueMoves(api)
        self._pages: dict[str, str] = {}

    def acknowledge(self, trigger: Trigger) -> None:
        """Show it within the ten seconds that Linear waits for a word of an agent.

        https://linear.app/developers/agent-interaction#activity-content-payload
        """
        ref = _issue_of(trigger)
        if session := self.sessions.find(ref):
            self.sessions.acknowledge(ref, session, trigger.key, READING)
        else:
            self._react(ref, trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        ref = _issue_of(trigger)
        if session := self.sessions.find(ref):
            self.sessions.respond(ref, session, trigger.key, NOT_FOLLOWED)
        else:
            self._react(ref, trigger, DECLINED)

    def fetch_thread(self, ref: TalkThread) -> Thread:
        return fetch_thread(self._api, ref)

    def fetch_opening(self, ref: TalkThread) -> Thread:
        return fetch_opening(self._api, ref)

    def find_post(self, ref: TalkThread, mark: str) -> str | None:
        """Look for the id that a post with this mark has; it is made of the mark."""
        if session := self.sessions.find(ref):
            activity = own_id(str(ref), mark)
            if self.sessions.has(ref, activity):
                return self.sessions.name_post(session, activity)
        return next((one for one in _ids(ref, mark) if self._is_there(ref, one)), None)

    def post(self, ref: TalkThread, text: str, offers: Offers = ()) -> str:
        if session := self.sessions.find(ref):
            return self.sessions.post(ref, session, self._shown(ref, text), offers)
        shown = self._shown(ref, with_offers(text, offers, self._settings.mention))
        return self._add_comment(ref, shown)

    def edit(
        self, ref: TalkThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        if post := read_post_id(post_id):
            self.sessions.replace(ref, post, self._shown(ref, text), offers)
            return
        shown = self._shown(ref, with_offers(text, offers, self._settings.mention))
        variables: JsonObject = {"id": post_id, "input": {"body": shown.text}}
        self._write(ref, UPDATE_COMMENT, variables)

    def delete(self, ref: TalkThread, post_id: str) -> None:
        """Take a comment back; an activity stays, and the next one covers it."""
        if read_post_id(post_id) is None and post_id:
            with suppress(NotFoundError):
                self._write(ref, DELETE_COMMENT, {"id": post_id})

    def tell_privately(
        self, ref: TalkThread, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        session = self.sessions.find(ref)
        if not session:
            raise InvalidRequestError("Linear has no private comments")
        shown = self._shown(ref, text)
        self.sessions.ask_to_link(ref, session, actor, shown.text, offers)

    def swap_labels(
        self, ref: TalkThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        change_labels(self._api, ref, add, remove)

    def fetch_attachment(
        self,
        ref: TalkThread,
        url: str,
        max_bytes: int,
        post_id: str = "",  # noqa: ARG002 - a file's address is enough
    ) -> bytes:
        # Our rights open files that who names their address may not see.
        if not any(url in one.text for one in self.fetch_thread(ref).posts):
            raise NotFoundError("this issue has no such attached file")
        return self._api.fetch_file(url_key_of(ref), url, max_bytes)

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:  # noqa: ARG002 - an issue is there before anybody can ask in it
        return _issue_of(trigger)

    def name_people(self, trigger: Trigger) -> Trigger:
        """Leave it as it is: a delivery of Linear's has names."""
        return trigger

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:  # noqa: ARG002 - Linear has one link of each address
        """Show it as what it is, where Linear knows the forge, and else as a link."""
        shown = title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1]}…"
        if session := self.sessions.find(ref):
            # A session has little room: the name is enough, as `acme/shop#1`.
            self.sessions.add_link(ref, session, shown.partition(": ")[0], url)
        variables: JsonObject = {"issue": issue_id(ref), "url": url, "title": shown}
        for document, more in _links(url):
            try:
                self._write(ref, document, {**variables, **more})
            except AlreadyExistsError:
                return
            except _REFUSALS:
                continue
            return
        given: JsonObject = {"issueId": issue_id(ref), "url": url, "title": shown}
        self._write(ref, CREATE_ATTACHMENT, {"input": given})

    def move(self, ref: TalkThread, status: str) -> None:
        self._moves.move(ref, status)

    def find_repository(self, ref: TalkThread) -> str:
        return fetch_repository(self._api, self._settings, ref)

    def _shown(self, ref: TalkThread, text: str) -> Marked:
        """Return a text as Linear shows it, and our marks, which are not shown."""
        marks = split_marks(text).marks
        body = to_linear(text, lambda person: self._page_of(ref, person))
        return Marked(text=body, marks=marks)

    def _page_of(self, ref: TalkThread, person: str) -> str:
        """Return somebody's page, which Linear shows as a mention of them."""
        if person not in self._pages:
            try:
                answer = self._api.read(
                    url_key_of(ref), _PersonAnswer, PERSON_QUERY, {"id": person}
                )
            except ServiceError:
                return ""
            self._pages[person] = answer.user.url
        return self._pages[person]

    def _react(self, ref: TalkThread, trigger: Trigger, emoji: str) -> None:
        given: JsonObject = {"id": own_id(trigger.key, emoji), "emoji": emoji}
        if trigger.post_id:
            given["commentId"] = trigger.post_id
        else:
            given["issueId"] = issue_id(ref)
        with suppress(AlreadyExistsError):
            self._write(ref, CREATE_REACTION, {"input": given})

    def _add_comment(self, ref: TalkThread, shown: Marked) -> str:
        """Add it once: Linear takes no second comment of the same id."""
        given: JsonObject = {"issueId": issue_id(ref), "body": shown.text}
        if not shown.name:
            return self._create_comment(ref, given)
        for comment in _ids(ref, shown.name):
            try:
                return self._create_comment(ref, {**given, "id": comment})
            except AlreadyExistsError:
                if self._is_there(ref, comment):
                    return comment
        return self._create_comment(ref, given)

    def _create_comment(self, ref: TalkThread, given: dict[str, JsonValue]) -> str:
        answer = self._api.ask(
            url_key_of(ref), _CreateCommentAnswer, CREATE_COMMENT, {"input": given}
        )
        return answer.comment_create.comment.id

    def _is_there(self, ref: TalkThread, comment: str) -> bool:
        try:
            answer = self._api.read(
                url_key_of(ref), _OwnCommentAnswer, COMMENT_QUERY, {"id": comment}
            )
        except (NotFoundError, InvalidRequestError):
            return False
        return not answer.comment.archived_at

    def _write(self, ref: TalkThread, document: str, variables: JsonObject) -> None:
        self._api.ask(url_key_of(ref), Nothing, document, variables)


def _issue_of(trigger: Trigger) -> TalkThread:
    if isinstance(trigger.thread, TalkThread) and trigger.thread.service == SERVICE:
        return trigger.thread
    raise InvalidRequestError(f"{trigger.thread} is not an issue of Linear's")


def _ids(ref: TalkThread, mark: str) -> Iterator[str]:
    yield own_id(str(ref), mark)
    for again in range(2, _MAX_IDS + 1):
        yield own_id(str(ref), mark, str(again))


def _links(url: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield how Linear links what is at an address, so that it follows its state."""
    path = urlsplit(url).path
    if _PULL.fullmatch(path):
        yield LINK_PULL_REQUEST, {}
    if found := _MERGE.fullmatch(path):
        number = int(found["number"])
        yield LINK_MERGE_REQUEST, {"number": number, "project": found["project"]}
