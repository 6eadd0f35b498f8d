"""Where one run's result goes, and what it is delivered with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from patchwright.core.channel import Channel
from patchwright.core.forge import Forge
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Repository, ThreadRef
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.messages.pull_request import Provenance
from patchwright.resolver.messages.status import Frame


@dataclass(frozen=True)
class Destination:
    """Where one run's result goes.

    `status_post` is the run's own comment, empty when it has none. `review_threads`
    are the service's names of the review threads, in the order the task counts them.
    """

    repository: Repository
    thread: ThreadRef
    requester: Actor
    status_post: str
    origin: Provenance
    frame: Frame
    config: RepositoryConfig = field(default_factory=RepositoryConfig)
    review_threads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Means:
    """What it is delivered with; `fetch_mirror` brings the commits."""

    forge: Forge
    channel: Channel
    fetch_mirror: Callable[[], Mirror]
