"""What running jobs takes, composed once for a process."""

from collections.abc import Callable
from dataclasses import dataclass

from patchwright.core.types.base import JobId
from patchwright.resolver.job import Job, Lease
from patchwright.resolver.run_store import RunStore
from patchwright.resolver.services import StepServices
from patchwright.workers.store.requests import ConversationLinkStore
from patchwright.workers.store.run_store import SqlRunStore, Stores


@dataclass(frozen=True, kw_only=True)
class RunServices(StepServices):
    """The collaborators of every run.

    `submit` hands a job to the queue. `warm_up` begins what the model needs and takes
    long, for somebody who is about to need it.
    """

    stores: Stores
    links: ConversationLinkStore
    submit: Callable[[JobId], None]
    warm_up: Callable[[], None]

    def open_store(self, job: Job, lease: Lease) -> RunStore:
        return SqlRunStore(
            self.stores,
            self.links,
            self.clock,
            job,
            lease,
            self.directory.forge.account_host,
        )
