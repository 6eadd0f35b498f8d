"""Put Linear together: connection, deliveries, installation, and polling."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import structlog
from pydantic import SecretStr

from patchwright.core.channel import Tracker
from patchwright.core.plugin import (
    AppInstallation,
    Installed,
    PeriodicTask,
    PluginRoutes,
)
from patchwright.core.plugin_host import PluginHost, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PermissionDeniedError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import StoredDelivery, Trigger
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.http.retry import BackgroundLookup
from patchwright.integrations.linear.adapter import Linear, connect_linear
from patchwright.integrations.linear.client import LinearClient
from patchwright.integrations.linear.plugin import TITLE
from patchwright.integrations.linear.search import LinearPolling, LinearSearch
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.tokens import (
    CALLBACK_PATH,
    INSTALL_PATH,
    LinearInstallation,
    LinearInstallations,
    LinearOAuth,
    LinearTokens,
    StaticLinearToken,
)
from patchwright.integrations.linear.webhooks.payloads import SERVICE, LinearWorkspace
from patchwright.integrations.linear.webhooks.reader import (
    ID_HEADER,
    KEPT_HEADERS,
    SIGNATURE_HEADER,
    LinearReceiver,
)
from patchwright.integrations.linear.webhooks.triggers import LinearTriggerRules

log = structlog.get_logger(__name__)


class OwnWorkspace(BackgroundLookup[LinearWorkspace]):
    """Knows the workspace of the token, after Linear has answered which that is.

    Without its own name the bot cannot recognise its own comments, and might answer
    them for ever.
    """

    def __init__(self, fetch_workspace: Callable[[], LinearWorkspace]) -> None:
        super().__init__(SERVICE, fetch_workspace)

    def find(self, workspace_id: str) -> LinearWorkspace | None:
        """Return it if it is the one that is meant; raises `NotReadyError`."""
        own = self.known()
        return own if own.id == workspace_id else None


@dataclass(frozen=True)
class ConnectedLinear:
    """A `ChatConnection`; `installations` are there where workspaces install us."""

    linear: Linear
    settings: Settings
    installations: LinearInstallations | None = None
    oauth: LinearOAuth | None = None

    @cached_property
    def _own_settings(self) -> LinearSettings:
        return LinearSettings.of(self.settings)

    @property
    def tracker(self) -> Tracker:
        return self.linear.channel

    def name_person(self, actor: Actor) -> Actor:
        """Return them as they are: Linear's deliveries tell people's names."""
        return actor

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the workspace whose token is set."""
        if self.installations is not None:
            return False
        return actor.host == self.linear.fetch_workspace().url_key

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        if self.installations is not None:
            return PluginRoutes(
                webhook_source=self._webhook_source(
                    self.installations.find, host.clock
                ),
                periodic_tasks=tuple(self._polling(self.installations.list_all, host)),
                installation=self._installation(self.installations),
            )
        own = OwnWorkspace(self.linear.fetch_workspace)

        def list_own() -> tuple[LinearWorkspace, ...]:
            return (own.known(),) if own.is_ready else ()

        return PluginRoutes(
            webhook_source=self._webhook_source(own.find, host.clock),
            background_tasks=(own,),
            periodic_tasks=tuple(self._polling(list_own, host)),
        )

    def _webhook_source(
        self, find: Callable[[str], LinearWorkspace | None], clock: Clock
    ) -> WebhookSource | None:
        """Return where it delivers, None where deliveries are not signed."""
        linear = self._own_settings
        if not linear.webhook_secret:
            return None
        receiver = LinearReceiver(
            linear.webhook_secret,
            find,
            clock,
            mention=linear.mention,
            label=linear.label,
        )
        return WebhookSource(
            receiver=receiver,
            identify=by_header(ID_HEADER),
            signature_header=SIGNATURE_HEADER,
            kept_headers=KEPT_HEADERS,
            follow=self._acknowledge,
            # Whatever is not answered with 200 comes again.
            is_silent=True,
        )

    def _acknowledge(self, reading: StoredDelivery) -> None:
        """Show at once that a request was seen, whenever a worker has time for it.

        Linear calls a session unresponsive after ten seconds without a word.
        """
        if not isinstance(reading, Trigger):
            return
        try:
            self.linear.channel.acknowledge(reading)
        except ServiceError as error:
            log.warning("reaction_not_shown", reason=error.reason, error=str(error))

    def _polling(
        self,
        list_workspaces: Callable[[], tuple[LinearWorkspace, ...]],
        host: PluginHost,
    ) -> Iterator[PeriodicTask]:
        linear = self._own_settings

        def list_searches() -> Iterator[LinearSearch]:
            for one in list_workspaces():
                rules = LinearTriggerRules(
                    workspace=one, mention=linear.mention, label=linear.label
                )
                yield LinearSearch(self.linear.api, rules)

        polling = LinearPolling(list_searches, host.submit, host.positions, host.clock)
        if linear.poll_seconds:
            yield PeriodicTask(polling, linear.poll_seconds)

    def _installation(self, store: LinearInstallations) -> AppInstallation | None:
        oauth = self.oauth
        if oauth is None:
            return None

        def install(code: str) -> Installed:
            workspace = self._install(oauth, store, code)
            return Installed(id=workspace.id, name=workspace.name)

        return AppInstallation(
            title=TITLE,
            path=INSTALL_PATH,
            callback_path=CALLBACK_PATH,
            address=oauth.address,
            install=install,
        )

    def _install(
        self, oauth: LinearOAuth, store: LinearInstallations, code: str
    ) -> LinearWorkspace:
        """Keep what a code stands for, if its workspace may install the app."""
        answer = oauth.exchange(code)
        token = StaticLinearToken(answer.access_token)
        clock = self.linear.api.clock
        api = LinearClient(self._own_settings.api_url, token, clock)
        workspace = api.identity("")
        if not self._own_settings.may_install(workspace.url_key):
            raise PermissionDeniedError(
                f"{workspace.url_key} cannot install the app; the operator can add it "
                "to linear.workspaces"
            )
        store.save(
            LinearInstallation(
                workspace=workspace,
                access_token=answer.access_token,
                refresh_token=answer.refresh_token,
                expires_at=answer.expires_at(clock.now()),
            )
        )
        return workspace


def connect(settings: Settings, secrets: SecretVault, clock: Clock) -> ConnectedLinear:
    """Serve the one workspace whose token is set, or those that install the app."""
    linear = LinearSettings.of(settings)
    if linear.token is not None:
        tokens: LinearTokens = StaticLinearToken(linear.token)
        return ConnectedLinear(connect_linear(linear, tokens, clock), settings)
    oauth = make_oauth(linear, settings.server.public_url)
    installations = LinearInstallations(secrets, oauth.refresh, clock)
    connected = connect_linear(linear, installations, clock)
    return ConnectedLinear(connected, settings, installations, oauth)


def make_oauth(linear: LinearSettings, public_url: str) -> LinearOAuth:
    return LinearOAuth(
        api_url=linear.api_url,
        web_url=linear.web_url,
        client_id=linear.client_id,
        client_secret=linear.client_secret or SecretStr(""),
        redirect_uri=public_url + CALLBACK_PATH,
    )
