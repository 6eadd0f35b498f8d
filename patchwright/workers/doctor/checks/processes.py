"""Check that the processes of the service are alive and work."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, combine, ok, skipped, warning
from patchwright.workers.doctor.stored import open_current_database
from patchwright.workers.ops.presence import ProcessStatus, live_processes

_ALL_IN_ONE_ROLE = "all"
_NEEDED_ROLES = ("web", "worker", "beat")


def check_processes(context: CheckContext) -> CheckResult:
    with open_current_database(context.settings) as database:
        if database is None:
            return skipped("no process has told of itself in this database")
        found = live_processes(database)
    return judge_processes(found, version("patchwright"))


def judge_processes(found: Sequence[ProcessStatus], own: str) -> CheckResult:
    """Judge the processes that are alive, for a command of that version."""
    if not found:
        return warning(
            "no process of the service is alive",
            "patchwright serve; or look into its log, why it ended",
        )
    roles = Counter(one.role for one in found)
    shown = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    return combine((ok(shown), *_process_problems(found, roles, own)))


def _process_problems(
    found: Sequence[ProcessStatus], roles: Counter[str], own: str
) -> Iterator[CheckResult]:
    absent = [one for one in _NEEDED_ROLES if not roles[one] and not roles[_ALL_IN_ONE_ROLE]]
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
