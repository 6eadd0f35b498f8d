"""What texts may refer to at this service, by its settings and its past."""

from patchwright.core.settings.model import Settings
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.workers.store.threads import ThreadStore


def find_places(settings: Settings, threads: ThreadStore) -> ReferenceScope:
    recent = (repo.full_name for repo in threads.newest_repositories(SERVICE))
    jira = settings.jira
    return ReferenceScope(
        forge=SERVICE,
        web_url=settings.github.web_url,
        known=tuple(dict.fromkeys([*mapped_repositories(settings), *recent])),
        jira_url=jira.base_url,
        jira_host=jira.host if jira.is_configured else "",
        projects=tuple(jira.projects),
    )


def mapped_repositories(settings: Settings) -> tuple[str, ...]:
    """Return the repositories that the administrator has given to places."""
    named = (*settings.slack.channels.values(), *settings.jira.projects.values())
    return tuple(dict.fromkeys(filter(None, named)))
