"""What the steps of a run work with, composed once for a process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from patchwright.core.channel import ChannelRouter
from patchwright.core.forge import Forge, Reviews
from patchwright.core.llm.model import Models
from patchwright.core.mcp import McpServers
from patchwright.core.plugin import ForgeConnection, ServiceDirectory
from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.resolver.admission import AdmissionPolicy, service_policy
from patchwright.resolver.dependencies import AgentConfiguration
from patchwright.resolver.guards.leaks import FindKnownSecrets
from patchwright.resolver.preparation import Sources
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.publish.live import NO_PUBLISHER, LivePublisher
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.resolver.run_store import Choices

WORK_AT_SERVICE: Final = (
    "Whoever runs the service gets it with `patchwright runs bundle {run}`."
)


@dataclass(frozen=True)
class RunOverrides:
    """What whoever runs Patchwright sets above what a repository sets for itself.

    `config` are values for fields of `RepositoryConfig`, by name, and `defaults` those
    that count where the repository sets nothing; `config_file` is its own file. In a
    dry run nothing is written to any service, and what would be written is kept.
    `schema` is a JSON schema, as text, for what the agent returns besides its words.
    Without `waits_for_people` a run that has a question ends with it. Without
    `looks_for_competitors` a run goes on where others have an open pull request for the
    same issue. `answer` is how a request ends at once, where that is known already.
    `work_at` says where a change is that is on no branch; `{run}` stands for the short
    id of its run.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    config_file: str = CONFIG_FILE
    is_dry_run: bool = False
    schema: str = ""
    waits_for_people: bool = True
    looks_for_competitors: bool = True
    answer: Outcome | None = None
    work_at: str = WORK_AT_SERVICE

    def applied_to(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return what a repository says with the orders on top of it."""
        said = config.model_fields_set
        unsaid = {k: v for k, v in self.defaults.items() if k not in said}
        return config.replace(**unsaid).replace(**self.config)


@dataclass(frozen=True)
class ChatServices:
    """The collaborators of such requests.

    `find_person` says who somebody is on the forge, None if nobody knows. `invite`
    makes what asks them to show it; with `can_invite` it may. `renew` asks a person to
    show it anew, where `needs_renewal` says so, which it does once. `find_places` says
    what texts can refer to, and `offer_to` names repositories that a person may see.
    `scope_of` is the name under which a person's own choices are kept.
    """

    find_person: Callable[[Actor], Actor | None]
    can_invite: bool
    invite: Callable[[Actor], Invitation | None]
    renew: Callable[[Actor], Invitation | None]
    needs_renewal: Callable[[Actor], bool]
    find_places: Callable[[], ReferenceScope]
    offer_to: Callable[[Actor], tuple[str, ...]]
    scope_of: Callable[[Actor], str]
    choices: Choices


@dataclass(frozen=True)
class CodeHost:
    """Where code lives, as runs use it.

    `fetch_identity` returns who we are there, None if that cannot be said. With
    `starts_no_checks` what we push there sets off no workflow.
    """

    forge: Forge
    reviews: Reviews | None
    fetch_identity: Callable[[], Actor | None]
    starts_no_checks: bool = False


def code_host_of(connection: ForgeConnection) -> CodeHost:
    return CodeHost(
        forge=connection.forge,
        reviews=connection.reviews,
        fetch_identity=connection.fetch_identity,
        starts_no_checks=connection.starts_no_checks,
    )


@dataclass(frozen=True, kw_only=True)
class StepServices:
    """The collaborators of every step.

    `find_models` returns those of a run whose main one has that name. `open_mcp` starts
    the servers of a sandbox. `find_known` finds the service's own secrets in a text.
    `find_page` returns the address of a run's page, empty where there is none.
    `overrides` hold for every run. `live` is how one run shows what it shows while it
    works.
    """

    settings: Settings
    clock: Clock
    code_host: CodeHost
    channel: ChannelRouter
    chat: ChatServices
    mirrors: MirrorCache
    sandboxes: RuntimeFactory
    find_models: Callable[[str], Models]
    conduct: AgentConfiguration
    open_mcp: Callable[[Settings, Runtime], McpServers]
    find_known: FindKnownSecrets
    find_page: Callable[[JobId, datetime], str]
    directory: ServiceDirectory
    overrides: RunOverrides = field(default_factory=RunOverrides)
    live: LivePublisher = NO_PUBLISHER

    @property
    def sources(self) -> Sources:
        return Sources(self.channel, self.code_host.forge, self.mirrors)

    @property
    def policy(self) -> AdmissionPolicy:
        return service_policy(self.settings, self.directory.forge.name)
