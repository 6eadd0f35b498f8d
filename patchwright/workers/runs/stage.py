"""How far a run can be."""

from enum import StrEnum


class RunStage(StrEnum):
    """How far a run is; of one of this machine it is not known whether it works."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DELIVERING = "delivering"
    ENDED = "ended"
    UNFINISHED = "unfinished"
