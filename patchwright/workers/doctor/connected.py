"""Connect to the services of a case, for the length of one check."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.workers.connections import connect_github
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import failed

NO_GITHUB = failed(
    "GitHub is not configured, and no App was made yet",
    "patchwright serve, and open the link that it logs (`setup_needed`); or set "
    "PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE",
)


@contextmanager
def github_of(case: Case) -> Iterator[GitHub]:
    """Lend GitHub as the service would speak to it."""
    cache = MemoryTokenCache()
    with closing(connect_github(case.settings.github, cache, case.clock)) as github:
        yield github
