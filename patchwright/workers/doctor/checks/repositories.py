"""Check that the repositories of the settings can be read."""

from patchwright.core.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.webhook import SERVICE
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.connected import connected_github, named_repositories
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok, skipped


def check_repositories(context: CheckContext) -> CheckResult:
    names = named_repositories(context)
    if not names:
        return skipped("none is named in slack.channels or jira.projects")
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        found = [_repository_problem(github, name, where) for name, where in names.items()]
    count = count_noun(len(names), "repository", "repositories")
    return combine((ok(f"{count} can be read"), *filter(None, found)))


def _repository_problem(github: GitHub, name: str, where: str) -> CheckResult | None:
    try:
        github.forge.fetch_repository(RepoRef(forge=SERVICE, full_name=name))
    except (NotFoundError, PermissionDeniedError):
        return failed(
            f"{name} cannot be read",
            f"install the App on {name}, let the token reach it, or correct {where}",
        )
    return None
