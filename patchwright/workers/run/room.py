"""Tell whether the machine has room for another run."""

import shutil

import structlog

from patchwright.core.settings.model import Settings
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome

_GIB = 1024**3

log = structlog.get_logger(__name__)


def check_disk_space(settings: Settings) -> Outcome | None:
    """Return how a run ends that must not begin, since the disk is nearly full."""
    floor = settings.limits.min_free_gib
    free = shutil.disk_usage(settings.state_dir).free / _GIB
    if free >= floor:
        return None
    log.error("disk_nearly_full", free_gib=round(free, 1), floor_gib=floor)
    text = (
        f"The disk of the machine that would work on this has {free:.1f} GiB free, and "
        f"{floor:g} GiB are to stay so (`limits.min_free_gib`). Nothing was started; "
        "`retry` when whoever runs this service has made room."
    )
    return service_outcome(OutcomeKind.FAILED, "disk-full", text)
