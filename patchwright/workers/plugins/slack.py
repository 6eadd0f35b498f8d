"""Slack: its deliveries, socket connection and install page."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final, Self
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock, start_call
from patchwright.core.settings.model import Settings
from patchwright.core.settings.slack import SlackSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import Challenge, InteractionRequest
from patchwright.core.webhook import (
    MAX_BODY_BYTES,
    InboxUnavailableError,
    WebhookSource,
    make_delivery,
)
from patchwright.core.webhook import WebhookReceiver as WebReceiver
from patchwright.integrations.retry import GRACE_S, retry_until_over
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.adapter import connect as connect_slack
from patchwright.integrations.slack.app import CALLBACK_PATH, SCOPES, AppInstaller
from patchwright.integrations.slack.client import SlackClient
from patchwright.integrations.slack.socket_mode import SocketMode
from patchwright.integrations.slack.tokens import BotTokens, StaticBotToken
from patchwright.integrations.slack.webhooks.reader import (
    SlackReceiver,
    SlackTriggerRules,
    SocketReceiver,
    delivery_id,
)
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.plugins.people import ChatComposition
from patchwright.workers.plugins.registry import PluginRoutes, WebContext
from patchwright.workers.plugins.slack_interactions import SlackInteractionHandler
from patchwright.workers.store.app_credentials import SlackInstallationStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.slack_install import (
    SlackInstallRoutes,
    make_slack_install_routes,
)

log = structlog.get_logger(__name__)


class SocketConnection:
    """A context; it connects in a thread of its own, and ends there."""

    def __init__(self, socket: SocketMode) -> None:
        self._socket = socket
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep, name="slack-socket", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        # In the middle of connecting it goes on until that is done, and ends then.
        self._thread.join(GRACE_S)

    def _keep(self) -> None:
        with ExitStack() as stack:
            if retry_until_over(SERVICE, lambda: self._connect(stack), self._is_over):
                log.info("slack_connected")
                self._is_over.wait()

    def _connect(self, stack: ExitStack) -> None:
        stack.enter_context(self._socket)


STORED_WITHIN_S: Final = 10.0


@dataclass(frozen=True)
class SocketDeliveries:
    """Returns what the sender waits for, once the delivery is stored."""

    service: str
    webhook_source: WebhookSource
    inbox: Inbox
    clock: Clock

    def __call__(
        self, headers: Mapping[str, str], body: bytes
    ) -> dict[str, object] | None:
        reading = self.webhook_source.receiver.read(headers, body)
        if isinstance(reading, Challenge):
            return None
        if isinstance(reading, InteractionRequest):
            return self._answer(reading)
        delivery = make_delivery(
            self.service,
            self.webhook_source,
            reading,
            headers=headers,
            body=body,
            received_at=self.clock.now(),
        )
        try:
            stored = self.inbox.submit(delivery).result(STORED_WITHIN_S)
        except TimeoutError:
            raise InboxUnavailableError("the database takes too long") from None
        log.info(
            "delivery_stored",
            service=self.service,
            verdict=stored.verdict,
            delivery_id=delivery.id,
            **stored.ids,
        )
        return None

    def _answer(self, prompt: InteractionRequest) -> dict[str, object] | None:
        front = self.webhook_source.interactions
        if front is None:
            return None
        answer = front.answer(prompt)
        start_call(partial(front.follow, prompt))
        return dict(answer) or None


def make_slack_install(
    settings: Settings,
    api: SlackClient,
    secrets: SecretStore,
    secret: bytes | None,
    clock: Clock,
) -> SlackInstallRoutes | None:
    """Return the door, None where one workspace is served by its token."""
    slack, public_url = settings.slack, settings.server.public_url
    if not slack.client_id or slack.bot_token:
        return None
    if not public_url or secret is None:
        missing = "security.session_secret" if public_url else "server.public_url"
        log.warning("slack_install_off", missing=missing)
        return None
    return make_slack_install_routes(
        AppInstaller(
            api=api,
            client_id=slack.client_id,
            client_secret=slack.client_secret or SecretStr(""),
            redirect_uri=public_url + CALLBACK_PATH,
            scopes=SCOPES,
            is_allowed_workspace=slack.may_install,
        ),
        SlackInstallationStore(secrets).save,
        secret,
        clock,
        secure=public_url.startswith("https:"),
        prefix=urlsplit(public_url).path,
    )


@dataclass(frozen=True)
class SlackPlugin:
    """A `Side`."""

    slack: Slack
    settings: SlackSettings

    @property
    def tracker(self) -> Tracker:
        return self.slack.channel

    def name_person(self, actor: Actor) -> Actor:
        return self.slack.name_person(actor)

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the workspace whose token is set.

        In a channel that workspaces share, others speak too, and where workspaces
        install the app none is more at home than another.
        """
        if self.settings.bot_token is None:
            return False
        return actor.host == self.slack.fetch_identity(actor.host).host

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def open_routes(self, talking: ChatComposition, edge: WebContext) -> PluginRoutes:
        front = SlackInteractionHandler(
            self.slack,
            talking.people,
            talking.choices,
            talking.stores.jobs,
            talking.repositories,
            edge.find_page,
            talking.clock,
        )
        return PluginRoutes(
            webhook_source=self._entrance(front, talking.clock),
            background_tasks=tuple(self._sockets(front, edge, talking.clock)),
            pages=tuple(self._pages(talking, edge)),
        )

    def _entrance(
        self, front: SlackInteractionHandler, clock: Clock
    ) -> WebhookSource | None:
        secrets = self.settings.signing_secret
        if not secrets:
            return None
        return _entrance(SlackReceiver(secrets, self._listening, clock), front)

    def _sockets(
        self, front: SlackInteractionHandler, edge: WebContext, clock: Clock
    ) -> Iterator[SocketConnection]:
        token = self.settings.app_token
        if token is None:
            return
        webhook_source = _entrance(SocketReceiver(self._listening), front)
        take = SocketDeliveries(SERVICE, webhook_source, edge.inbox, clock)
        client = self.slack.api.open_client()
        yield SocketConnection(SocketMode(client, token, take, clock))

    def _pages(self, talking: ChatComposition, edge: WebContext) -> Iterator[AddPages]:
        door = make_slack_install(
            talking.settings,
            self.slack.api,
            talking.secrets,
            edge.secret,
            talking.clock,
        )
        if door is not None:
            yield door.add_to

    @property
    def _listening(self) -> SlackTriggerRules:
        return SlackTriggerRules(command=self.settings.command)


def connect(settings: Settings, secrets: SecretStore, clock: Clock) -> SlackPlugin:
    slack = settings.slack
    tokens = _tokens(slack, secrets)
    return SlackPlugin(connect_slack(slack.api_url, tokens=tokens, clock=clock), slack)


def _tokens(slack: SlackSettings, secrets: SecretStore) -> BotTokens:
    """Serve the one workspace whose token is set, or those that install the app."""
    given = slack.bot_token
    return StaticBotToken(given) if given else SlackInstallationStore(secrets)


def _entrance(receiver: WebReceiver, front: SlackInteractionHandler) -> WebhookSource:
    return WebhookSource(
        receiver=receiver,
        identify=delivery_id,
        max_body_bytes=MAX_BODY_BYTES,
        interactions=front,
        is_silent=True,
        signature_header="x-slack-signature",
    )
