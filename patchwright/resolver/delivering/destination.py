"""Where one run's result goes, and what it is delivered with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from patchwright.core.channel import Channel
from patchwright.core.clock import Clock, SystemClock
from patchwright.core.forge import Forge
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Repository, ThreadRef
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.messages.ending import NOTHING_KNOWN
from patchwright.resolver.messages.pull_request import Provenance
from patchwright.resolver.messages.status import Frame, Progress

SYSTEM_CLOCK: Final = SystemClock()


@dataclass(frozen=True)
class Destination:
    """Where one run's result goes.

    `status_post` is the run's own comment, empty when it has none. `review_threads`
    are the service's names of the review threads, in the order the task counts them.
    `others` took part in the request besides the requester. `last` is how far the run
    was when it ended.
    """

    repository: Repository
    thread: ThreadRef
    requester: Actor
    status_post: str
    origin: Provenance
    frame: Frame
    config: RepositoryConfig = field(default_factory=RepositoryConfig)
    review_threads: tuple[str, ...] = ()
    others: tuple[Actor, ...] = ()
    last: Progress = NOTHING_KNOWN


@dataclass(frozen=True)
class Means:
    """What it is delivered with; `fetch_mirror` brings the commits.

    With `forge_signs` the forge makes the commits that it can make exactly.
    """

    forge: Forge
    channel: Channel
    fetch_mirror: Callable[[], Mirror]
    forge_signs: bool = False
    clock: Clock = SYSTEM_CLOCK
