"""Slack: its deliveries, its connection of ours, and the page that installs it."""

from collections.abc import Iterator
from dataclasses import dataclass

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.settings.slack import SlackSettings
from patchwright.core.types.people import Actor
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.adapter import connect as connect_slack
from patchwright.integrations.slack.receiver import (
    SlackReceiver,
    SocketReceiver,
    delivery_id,
)
from patchwright.integrations.slack.socket_mode import SocketMode
from patchwright.integrations.slack.tokens import StaticBotToken, BotTokens
from patchwright.integrations.slack.webhook import SlackTriggerRules
from patchwright.workers.store.installations import SlackInstallationStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.talk.compose import ChatComposition
from patchwright.workers.talk.installing import make_slack_install
from patchwright.workers.talk.sides import MAX_BODY_BYTES, PluginRoutes, WebContext
from patchwright.workers.talk.slack_front import SlackInteractionHandler
from patchwright.workers.talk.socket import SocketConnection
from patchwright.workers.talk.taking import SocketDeliveries
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.receiver import WebhookSource
from patchwright.workers.web.receiver import WebhookReceiver as WebReceiver


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

    def _entrance(self, front: SlackInteractionHandler, clock: Clock) -> WebhookSource | None:
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
        take = SocketDeliveries(SERVICE, webhook_source, edge.intake, clock)
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
