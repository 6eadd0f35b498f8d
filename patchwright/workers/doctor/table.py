"""The checks in the order in which they are shown."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from patchwright.core.errors import SettingsError
from patchwright.core.text.nearest import nearest_name

_PACKAGE: Final = "patchwright.workers.doctor.checks"


class CheckEntry(NamedTuple):
    """A check of that name, which has so many seconds to answer.

    Those that are `local` have no use for an App that was made for the service.
    """

    name: str
    within_s: float = 20.0
    local: bool = False

    @property
    def module(self) -> str:
        """Where it is; imported for a check that is wanted, as some take long."""
        return f"{_PACKAGE}.{self.name.replace('-', '_')}"


CHECKS: Final = (
    CheckEntry("settings", 10),
    CheckEntry("state", 10, local=True),
    CheckEntry("database", local=True),
    CheckEntry("secrets", local=True),
    CheckEntry("broker", 15, local=True),
    CheckEntry("processes", local=True),
    CheckEntry("sandbox", 60, local=True),
    CheckEntry("network", 15),
    CheckEntry("clock", 15),
    CheckEntry("model", 60, local=True),
    CheckEntry("github", 30),
    CheckEntry("github-permissions"),
    CheckEntry("github-webhook"),
    CheckEntry("github-deliveries"),
    CheckEntry("public-url"),
    CheckEntry("slack", 30),
    CheckEntry("slack-socket"),
    CheckEntry("jira"),
    CheckEntry("jira-projects", 30),
    CheckEntry("repositories", 30),
)


def choose_checks(only: Iterable[str]) -> tuple[CheckEntry, ...]:
    """Return the checks of these names, all of them where none is named.

    The name of a service stands for all of its checks. Raises `SettingsError`.
    """
    wanted = tuple(only)
    if unknown := next(_unknown(wanted), None):
        near = nearest_name(unknown, [entry.name for entry in CHECKS])
        raise SettingsError(f"--only: there is no check {unknown!r}; is it {near!r}?")
    return tuple(one for one in CHECKS if not wanted or _is_named(one, wanted))


def _unknown(wanted: Iterable[str]) -> Iterator[str]:
    return (one for one in wanted if not any(_is_named(e, (one,)) for e in CHECKS))


def _is_named(entry: CheckEntry, wanted: Iterable[str]) -> bool:
    return any(entry.name == one or entry.name.startswith(f"{one}-") for one in wanted)
