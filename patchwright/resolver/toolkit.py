"""What a run works with; composed once, at the edge."""

from dataclasses import dataclass

from patchwright.core.agent.controller import Hear, hear_nobody
from patchwright.core.agent.purse import Purse
from patchwright.core.clock import Clock
from patchwright.core.events.log import EventLog
from patchwright.core.llm.model import Model
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.types.work import Limits
from patchwright.integrations.git.grafts import Signature
from patchwright.integrations.git.objects import ObjectStore


@dataclass(frozen=True)
class Toolkit:
    """The collaborators of one run. `author` signs its commits."""

    run_id: str
    model: Model
    sandboxes: RuntimeFactory
    spec: SandboxSpec
    code: ObjectStore
    log: EventLog
    limits: Limits
    purse: Purse
    clock: Clock
    author: Signature
    hear: Hear = hear_nobody
