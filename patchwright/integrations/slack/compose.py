"""Put Slack together: connection, deliveries, and what people do with buttons."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Self, assert_never

import structlog
from pydantic import SecretStr

from patchwright.core.channel import Tracker
from patchwright.core.plugin import AppInstallation, Installed, PluginRoutes
from patchwright.core.plugin_host import PersonServices, PluginHost, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    HomeRequest,
    InteractionRequest,
    OptionsRequest,
)
from patchwright.core.webhook import MAX_BODY_BYTES, WebhookReceiver, WebhookSource
from patchwright.integrations.http.retry import GRACE_S, retry_until_over
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.adapter import connect as connect_slack
from patchwright.integrations.slack.app import (
    CALLBACK_PATH,
    INSTALL_PATH,
    SCOPES,
    AppInstaller,
)
from patchwright.integrations.slack.plugin import TITLE
from patchwright.integrations.slack.settings import SlackSettings
from patchwright.integrations.slack.socket_mode import SocketMode
from patchwright.integrations.slack.text.actions import SERVICE
from patchwright.integrations.slack.tokens import (
    BotTokens,
    SlackInstallationStore,
    StaticBotToken,
)
from patchwright.integrations.slack.views import MAX_RUNS, options_of
from patchwright.integrations.slack.webhooks.reader import (
    SlackReceiver,
    SocketReceiver,
    delivery_id,
)
from patchwright.integrations.slack.webhooks.triggers import SlackTriggerRules

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SlackInteractionHandler:
    """An `InteractionHandler`."""

    slack: Slack
    people: PersonServices

    def answer(self, prompt: InteractionRequest) -> Mapping[str, object]:
        match prompt:
            case OptionsRequest():
                found = self.people.find_repositories(prompt.actor, prompt.query)
                return options_of(found)
            case DefaultChosen():
                self.people.choose_repository(prompt.actor, prompt.repository)
            case FormRequest() | HomeRequest():
                pass
            case _:
                assert_never(prompt)
        return {}

    def follow(self, prompt: InteractionRequest) -> None:
        try:
            match prompt:
                case FormRequest():
                    self.slack.open_form(prompt)
                case HomeRequest() | DefaultChosen():
                    facts = self.people.summarize(prompt.actor, MAX_RUNS)
                    self.slack.publish_home(prompt.actor, prompt.installation, facts)
                case OptionsRequest():
                    pass
                case _:
                    assert_never(prompt)
        except ServiceError as error:
            log.warning("prompt_not_answered", reason=error.reason, error=str(error))


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


@dataclass(frozen=True)
class ConnectedSlack:
    """A `ChatConnection`."""

    slack: Slack
    settings: Settings
    secrets: SecretVault

    @property
    def _own_settings(self) -> SlackSettings:
        return SlackSettings.of(self.settings)

    @property
    def tracker(self) -> Tracker:
        return self.slack.channel

    def name_person(self, actor: Actor) -> Actor:
        return self.slack.name_person(actor)

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the workspace whose token is set.

        In a shared channel people of other workspaces write too, and if workspaces
        install the app, all are equal.
        """
        if self._own_settings.bot_token is None:
            return False
        return actor.host == self.slack.fetch_identity(actor.host).host

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        interactions = SlackInteractionHandler(self.slack, host.people)
        return PluginRoutes(
            webhook_source=self._webhook_source(interactions, host.clock),
            background_tasks=tuple(self._sockets(interactions, host)),
            installation=self._installation(),
        )

    def _webhook_source(
        self, interactions: SlackInteractionHandler, clock: Clock
    ) -> WebhookSource | None:
        secrets = self._own_settings.signing_secret
        if not secrets:
            return None
        receiver = SlackReceiver(secrets, self._trigger_rules, clock)
        return _make_source(receiver, interactions)

    def _sockets(
        self, interactions: SlackInteractionHandler, host: PluginHost
    ) -> Iterator[SocketConnection]:
        token = self._own_settings.app_token
        if token is None:
            return
        source = _make_source(SocketReceiver(self._trigger_rules), interactions)
        receive = partial(host.receive, source)
        client = self.slack.api.open_client()
        yield SocketConnection(SocketMode(client, token, receive, host.clock))

    def _installation(self) -> AppInstallation | None:
        """Return how to install it, None where one workspace is served by its token."""
        slack = self._own_settings
        if not slack.client_id or slack.bot_token:
            return None
        installer = AppInstaller(
            api=self.slack.api,
            client_id=slack.client_id,
            client_secret=slack.client_secret or SecretStr(""),
            redirect_uri=self.settings.server.public_url + CALLBACK_PATH,
            scopes=SCOPES,
            is_allowed_workspace=slack.may_install,
        )
        store = SlackInstallationStore(self.secrets)

        def install(code: str) -> Installed:
            installed = installer.exchange(code)
            store.save(installed)
            return Installed(id=installed.id, name=installed.name)

        return AppInstallation(
            title=TITLE,
            path=INSTALL_PATH,
            callback_path=CALLBACK_PATH,
            address=installer.address,
            install=install,
        )

    @property
    def _trigger_rules(self) -> SlackTriggerRules:
        return SlackTriggerRules(command=self._own_settings.command)


def connect(settings: Settings, secrets: SecretVault, clock: Clock) -> ConnectedSlack:
    slack = SlackSettings.of(settings)
    tokens = _tokens(slack, secrets)
    connected = connect_slack(slack.api_url, tokens=tokens, clock=clock)
    return ConnectedSlack(connected, settings, secrets)


def _tokens(slack: SlackSettings, secrets: SecretVault) -> BotTokens:
    """Serve the one workspace whose token is set, or those that install the app."""
    given = slack.bot_token
    return StaticBotToken(given) if given else SlackInstallationStore(secrets)


def _make_source(
    receiver: WebhookReceiver, interactions: SlackInteractionHandler
) -> WebhookSource:
    return WebhookSource(
        receiver=receiver,
        identify=delivery_id,
        max_body_bytes=MAX_BODY_BYTES,
        interactions=interactions,
        is_silent=True,
        signature_header="x-slack-signature",
        kept_headers=("x-slack-retry-",),
    )
