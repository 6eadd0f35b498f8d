"""Ask Slack about one workspace, with a token that works and errors of our own."""

import ssl
from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar

from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.http.limits import retry_after_limits
from patchwright.integrations.slack.errors import translate_errors
from patchwright.integrations.slack.responses import BotIdentity, OpenedConversation
from patchwright.integrations.slack.text.message_content import SlackModel
from patchwright.integrations.slack.tokens import BotTokens

# A place that is a person: the talk with them is opened first.
_PERSON: Final = "@"


def team_of(ref: TalkThread) -> str:
    """Return the installation whose token answers there."""
    return ref.place.partition("/")[0]


def channel_of(ref: TalkThread) -> str:
    """Return the channel; `InvalidRequestError` where it is only known who it is."""
    channel = ref.place.partition("/")[2]
    if not channel or channel.startswith(_PERSON):
        raise InvalidRequestError(f"no conversation was opened for {ref} yet")
    return channel


def person_of(ref: TalkThread) -> str | None:
    """Return whom the thread will be with, where it is not opened yet."""
    channel = ref.place.partition("/")[2]
    return channel[1:] if channel.startswith(_PERSON) else None


def is_unopened(ref: TalkThread) -> bool:
    return not ref.has_begun


def root_of(ref: TalkThread) -> str:
    """Return the time stamp of the first message; `NotFoundError` without one."""
    if is_unopened(ref):
        raise NotFoundError(f"{ref} has no message yet")
    return ref.id


def is_direct(channel: str) -> bool:
    """Tell whether it is a talk between one person and us."""
    return channel.startswith("D")


TIMEOUT_S: Final = 15

Answer = TypeVar("Answer", bound=SlackModel)
Question = Callable[[WebClient], SlackResponse]


class SlackClient:
    """Holds no connection; any thread may ask."""

    def __init__(self, api_url: str, *, tokens: BotTokens, clock: Clock) -> None:
        self._api_url = api_url
        self._tokens = tokens
        self._clock = clock
        self._trusted = ssl.create_default_context()
        self._identities: dict[str, BotIdentity] = {}
        self._lock = Lock()

    @property
    def api_url(self) -> str:
        return self._api_url

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def tokens(self) -> BotTokens:
        return self._tokens

    def ask(self, team: str, shape: type[Answer], question: Question) -> Answer:
        """Put a question to a workspace, and wait for a limit if that is not long."""
        return retry_after_limits(
            lambda: self.ask_now(team, shape, question), self._clock
        )

    def ask_now(self, team: str, shape: type[Answer], question: Question) -> Answer:
        """Answer as `ask` does, but wait for nothing."""
        client = self.open_client(self._tokens.token_of(team))
        with translate_errors(self._clock):
            return shape.model_validate(question(client).data)

    def identity(self, team: str) -> BotIdentity:
        """Return who we are in a workspace; it is asked for once."""
        token = self._tokens.token_of(team).get_secret_value()
        with self._lock:
            known = self._identities.get(token)
        if known is None:
            known = self.ask(team, BotIdentity, lambda client: client.auth_test())
            with self._lock:
                self._identities[token] = known
        return known

    def open_client(self, token: SecretStr | None = None) -> WebClient:
        """Return a client that asks once: a write may have been done unanswered."""
        client = WebClient(
            token=token.get_secret_value() if token else None,
            base_url=f"{self._api_url}/",
            timeout=TIMEOUT_S,
            ssl=self._trusted,
            user_agent_prefix="patchwright",
            retry_handlers=[],
        )
        # urllib uses the environment's proxies and exceptions itself.
        client.proxy = None
        return client


def open_direct_message(api: SlackClient, ref: TalkThread, user: str) -> TalkThread:
    """Return the thread as one in the talk with that person."""
    team = team_of(ref)
    opened = api.ask(
        team, OpenedConversation, lambda client: client.conversations_open(users=user)
    )
    return ref.replace(place=f"{team}/{opened.channel.id}")
