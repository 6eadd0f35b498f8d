"""The checks in the order in which they are shown."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from patchwright.core.errors import SettingsError
from patchwright.core.text.nearest import nearest

_PACKAGE: Final = "patchwright.workers.doctor.checks"


class Entry(NamedTuple):
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
    Entry("settings", 10),
    Entry("state", 10, local=True),
    Entry("database", local=True),
    Entry("secrets", local=True),
    Entry("broker", 15, local=True),
    Entry("processes", local=True),
    Entry("sandbox", 60, local=True),
    Entry("network", 15),
    Entry("clock", 15),
    Entry("model", 60, local=True),
    Entry("github", 30),
    Entry("github-permissions"),
    Entry("github-webhook"),
    Entry("github-deliveries"),
    Entry("public-url"),
    Entry("slack", 30),
    Entry("slack-socket"),
    Entry("jira"),
    Entry("jira-projects", 30),
    Entry("repositories", 30),
)


def choose(only: Iterable[str]) -> tuple[Entry, ...]:
    """Return the checks of these names, all of them where none is named.

    The name of a service stands for all of its checks. Raises `SettingsError`.
    """
    wanted = tuple(only)
    if unknown := next(_unknown(wanted), None):
        near = nearest(unknown, [entry.name for entry in CHECKS])
        raise SettingsError(f"--only: there is no check {unknown!r}; is it {near!r}?")
    return tuple(one for one in CHECKS if not wanted or _is_named(one, wanted))


def _unknown(wanted: Iterable[str]) -> Iterator[str]:
    return (one for one in wanted if not any(_is_named(e, (one,)) for e in CHECKS))


def _is_named(entry: Entry, wanted: Iterable[str]) -> bool:
    return any(entry.name == one or entry.name.startswith(f"{one}-") for one in wanted)
