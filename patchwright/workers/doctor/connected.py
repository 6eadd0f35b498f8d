"""Connect to the services of a case, for the length of one check."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.deliveries import Hook
from patchwright.integrations.github.manifest import WEBHOOK_PATH
from patchwright.integrations.github.webhook import SERVICE
from patchwright.workers.connections import connect_github
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import failed, skipped
from patchwright.workers.doctor.stored import open_current_database
from patchwright.workers.store.threads import ThreadStore

NO_GITHUB = failed(
    "GitHub is not configured, and no App was made yet",
    "patchwright serve, and open the link that it logs (`setup_needed`); or set "
    "PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE",
)


NO_WEBHOOK_VISIBLE = skipped(
    "this token may not look at the webhook of any repository that is known here"
)


def find_webhooks(context: CheckContext, github: GitHub) -> tuple[Hook, ...]:
    """Return the App's webhook, or those of repositories that lead to us."""
    address = context.public_url + WEBHOOK_PATH
    repos = () if github.app else known_repositories(context)
    return tuple(github.find_hooks(address, repos))


def known_repositories(context: CheckContext) -> tuple[RepoRef, ...]:
    """Return those of the settings, and those where there was work lately."""
    named = [RepoRef(forge=SERVICE, full_name=one) for one in named_repositories(context)]
    with open_current_database(context.settings) as database:
        if database is None:
            return tuple(named)
        lately = ThreadStore(database).newest_repositories(SERVICE)
    return tuple(dict.fromkeys((*named, *lately)))


def named_repositories(context: CheckContext) -> dict[str, str]:
    """Return each repository of the settings, with the key that names it."""
    tables = {
        "slack.channels": context.settings.slack.channels,
        "jira.projects": context.settings.jira.projects,
    }
    return {
        repository: f"{setting}.{key}"
        for setting, table in tables.items()
        for key, repository in table.items()
        if repository
    }


@contextmanager
def connected_github(context: CheckContext) -> Iterator[GitHub]:
    """Lend GitHub as the service would speak to it."""
    cache = MemoryTokenCache()
    with closing(connect_github(context.settings.github, cache, context.clock)) as github:
        yield github
