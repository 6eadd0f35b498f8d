"""Check that the processes of the service are alive and work."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import Finding, combine, ok, skipped, warning
from patchwright.workers.doctor.stored import readable
from patchwright.workers.ops.presence import Presence, alive

_EMBEDDED = "all"
_NEEDED = ("web", "worker", "beat")


def check(context: Case) -> Finding:
    with readable(context.settings) as database:
        if database is None:
            return skipped("no process has told of itself in this database")
        found = alive(database)
    return judge(found, version("patchwright"))


def judge(found: Sequence[Presence], own: str) -> Finding:
    """Judge the processes that are alive, for a command of that version."""
    if not found:
        return warning(
            "no process of the service is alive",
            "patchwright serve; or look into its log, why it ended",
        )
    roles = Counter(one.role for one in found)
    shown = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    return combine((ok(shown), *_wrong(found, roles, own)))


def _wrong(
    found: Sequence[Presence], roles: Counter[str], own: str
) -> Iterator[Finding]:
    absent = [one for one in _NEEDED if not roles[one] and not roles[_EMBEDDED]]
    for role in absent:
        yield warning(f"there is no {role}", f"patchwright serve --role {role}")
    for one in found:
        if one.red:
            yield warning(
                f"{one.role} {one.name}: {', '.join(one.red)} not working",
                f"look into the log of {one.name}, and at the checks of these parts",
            )
    other = sorted({one.version for one in found if one.version != own})
    if other:
        yield warning(
            f"{', '.join(other)} is running, and this is {own}",
            "start all processes anew with one version",
        )
