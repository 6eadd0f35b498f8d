"""Check that the repositories of the settings can be read."""

from patchwright.core.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.webhook import SERVICE
from patchwright.resolver.messages.facts import counted
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.connected import github_of, named_repositories
from patchwright.workers.doctor.finding import Finding, combine, failed, ok, skipped


def check(context: Case) -> Finding:
    names = named_repositories(context)
    if not names:
        return skipped("none is named in slack.channels or jira.projects")
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with github_of(context) as github:
        found = [_look(github, name, where) for name, where in names.items()]
    count = counted(len(names), "repository", "repositories")
    return combine((ok(f"{count} can be read"), *filter(None, found)))


def _look(github: GitHub, name: str, where: str) -> Finding | None:
    try:
        github.forge.fetch_repository(RepoRef(forge=SERVICE, full_name=name))
    except (NotFoundError, PermissionDeniedError):
        return failed(
            f"{name} cannot be read",
            f"install the App on {name}, let the token reach it, or correct {where}",
        )
    return None
