"""A run as people read it: its steps, and what happened between them."""

from datetime import datetime

from patchwright.core.events.metrics import RunMetrics, ModelCall
from patchwright.core.trajectory.document import RunFacts
from patchwright.core.trajectory.words import NO_RESULT_YET, Tone, Phrase
from patchwright.core.types.base import Value
from patchwright.core.types.work import Outcome


class CallSummary(Value):
    """One call of a reply, and what came of it; the ids are those of its events.

    `action_id` is None for a call that was never sent off.
    """

    call_id: str
    kind: str
    text: str
    result: Phrase = NO_RESULT_YET
    action_id: int | None = None
    result_id: int | None = None


class Step(Value):
    """One reply of the model and what was done about it.

    `number` counts the replies of the whole run from 1. `agent` is empty for the run's
    own agent, and `depth` says how many delegations down it is.
    """

    number: int
    event_id: int
    at: datetime
    agent: str
    depth: int
    said: str
    call: ModelCall
    acts: tuple[CallSummary, ...] = ()


class StoryNote(Value):
    """Something that happened beside the steps; `kind` is that of its event."""

    event_id: int
    at: datetime
    kind: str
    agent: str
    depth: int
    text: str
    tone: Tone = Tone.PLAIN
    call: ModelCall | None = None


class Story(Value):
    """A whole run. Without an `outcome` it had not ended."""

    facts: RunFacts
    parts: tuple[Step | StoryNote, ...]
    metrics: RunMetrics
    outcome: Outcome | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(part for part in self.parts if isinstance(part, Step))

    @property
    def remarks(self) -> tuple[StoryNote, ...]:
        return tuple(part for part in self.parts if isinstance(part, StoryNote))
