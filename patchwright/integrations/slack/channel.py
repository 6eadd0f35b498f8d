"""Slack as a channel: messages and their files, with reactions and names."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr

from patchwright.core.channel import Offers, Tracker
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.http.limits import CHUNK_BYTES, read_limited
from patchwright.integrations.slack.client import (
    TIMEOUT_S,
    SlackClient,
    channel_of,
    is_unopened,
    team_of,
)
from patchwright.integrations.slack.errors import SlackRefusalError
from patchwright.integrations.slack.posts import (
    MessageWriter,
    open_thread,
    tell_privately,
)
from patchwright.integrations.slack.responses import EmptyResponse
from patchwright.integrations.slack.text.mrkdwn import escape_markdown
from patchwright.integrations.slack.threads import (
    UserNames,
    fetch_opening,
    fetch_thread,
    is_attached,
)

_OK, _REDIRECTED, _BROKEN = 200, 300, 400
_DENIED: Final = frozenset({401, 403})
_MISSING: Final = frozenset({404, 410})
_SLACK: Final = "slack.com"


def fetch_file(api: SlackClient, team: str, url: str, max_bytes: int) -> bytes:
    """Return the file. Raises a `ServiceError` of a sentence that says why not."""
    check_host(api.api_url, url)
    try:
        with requests.Session() as session:
            return _download(session, (url, api.tokens.token_of(team)), max_bytes)
    except requests.RequestException as error:
        kind = type(error).__name__
        raise ServiceUnavailableError(f"Slack did not answer ({kind})") from error


def check_host(api_url: str, url: str) -> None:
    """Raise `InvalidRequestError` for what is not on a host of Slack's.

    The token goes there, and a message may name any host.
    """
    try:
        parts, api = urlsplit(url), urlsplit(api_url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    if (parts.scheme, parts.netloc) == (api.scheme, api.netloc):
        return
    host = parts.hostname or ""
    # Only the host: no port, no name and no password.
    is_plain = parts.netloc.lower() == host
    roots = (_SLACK, api.hostname or _SLACK)
    is_slacks = any(host == root or host.endswith(f".{root}") for root in roots)
    if parts.scheme == "https" and is_plain and is_slacks:
        return
    raise InvalidRequestError(f"{host or 'it'} is not a host of Slack")


def _download(
    session: requests.Session, request: tuple[str, SecretStr], max_bytes: int
) -> bytes:
    """Follow no redirect: who lacks the right is sent to a page to sign in.

    https://docs.slack.dev/reference/objects/file-object#authentication
    """
    url, token = request
    session.auth = _Bearer(token)
    with session.get(
        url, timeout=TIMEOUT_S, stream=True, allow_redirects=False
    ) as answer:
        return _read(answer, max_bytes)


class _Bearer(requests.auth.AuthBase):
    """Shows the token; requests would else take credentials from a .netrc file."""

    def __init__(self, token: SecretStr) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token.get_secret_value()}"
        return request


def _read(answer: requests.Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _DENIED or _REDIRECTED <= status < _BROKEN:
        raise PermissionDeniedError("Slack does not allow the bot to read it")
    if status in _MISSING:
        raise NotFoundError(f"Slack answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"Slack answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)


# An id as our Markdown shows somebody without a name.
_ID: Final = re.compile(r"(?<![\w.@/-])@([UW][A-Z0-9]+)\b")
# Each may cost a question to Slack.
_MAX_LOOKUPS: Final = 20


def name_people(people: UserNames, trigger: Trigger) -> Trigger:
    """Return the request with names; who has none that we can learn keeps the id.

    Slack tells who wrote a message by an id alone, most of the time.
    """
    if not isinstance(trigger.thread, TalkThread):
        return trigger
    actor = trigger.actor
    texts = (trigger.title, trigger.body, trigger.text, trigger.request)
    ids = [one for text in texts for one in _ID.findall(text)]
    if actor.login == actor.external_id:
        ids = [actor.external_id, *ids]
    if not ids:
        return trigger
    try:
        names = people.names_of(
            team_of(trigger.thread), list(dict.fromkeys(ids))[:_MAX_LOOKUPS]
        )
    except ServiceError:
        return trigger
    title, body, text, request = (_named(one, names) for one in texts)
    login = names.get(actor.login, actor.login)
    return trigger.replace(
        actor=actor.replace(login=login),
        title=title,
        body=body,
        text=text,
        request=request,
    )


def _named(text: str, names: Mapping[str, str]) -> str:
    def name(found: re.Match[str]) -> str:
        return f"@{escape_markdown(' '.join(names.get(found[1], found[1]).split()))}"

    return _ID.sub(name, text)


def react(api: SlackClient, trigger: Trigger, reaction: str) -> None:
    """React to the message that asked; where there is none there is nothing to do."""
    ref = trigger.thread
    if not isinstance(ref, TalkThread):
        raise InvalidRequestError(f"{ref} is not a thread in Slack")
    if is_unopened(ref):
        return
    channel = channel_of(ref)
    try:
        api.ask(
            team_of(ref),
            EmptyResponse,
            lambda client: client.reactions_add(
                channel=channel, timestamp=trigger.post_id or ref.id, name=reaction
            ),
        )
    except SlackRefusalError as error:
        if error.code != "already_reacted":
            raise


SEEN: Final = "eyes"
DECLINED: Final = "confused"


class SlackChannel(MessageWriter, Tracker):
    """A `Tracker`: threads that we open ourselves, with no labels, links or status."""

    def __init__(self, api: SlackClient, people: UserNames) -> None:
        super().__init__(api)
        self._people = people

    def acknowledge(self, trigger: Trigger) -> None:
        react(self._api, trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        react(self._api, trigger, DECLINED)

    def fetch_thread(self, ref: TalkThread) -> Thread:
        return fetch_thread(self._api, self._people, ref)

    def fetch_opening(self, ref: TalkThread) -> Thread:
        return fetch_opening(self._api, self._people, ref)

    def tell_privately(
        self, ref: TalkThread, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        tell_privately(self._api, ref, actor, text, offers)

    def swap_labels(
        self, ref: TalkThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Leave it as it is: Slack has no labels."""

    def fetch_attachment(
        self,
        ref: TalkThread,
        url: str,
        max_bytes: int,
        post_id: str = "",  # noqa: ARG002 - a file's address is enough
    ) -> bytes:
        # Our rights open files that who names their address may not see.
        if not is_attached(self._api, ref, url):
            raise NotFoundError("this thread has no such attached file")
        return fetch_file(self._api, team_of(ref), url, max_bytes)

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        return open_thread(self._api, trigger, text)

    def name_people(self, trigger: Trigger) -> Trigger:
        return name_people(self._people, trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        """Leave the links to our message."""

    def move(self, ref: TalkThread, status: str) -> None:
        """Leave it as it is: a thread has no status."""

    def find_repository(self, ref: TalkThread) -> str:  # noqa: ARG002 - of none of them
        """Return nothing: Slack ties no thread to a repository."""
        return ""
