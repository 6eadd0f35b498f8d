"""Check that GitHub gave us the permissions and events that are needed."""

from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.connected import connected_github
from patchwright.workers.doctor.finding import CheckResult, failed, ok, skipped

_FIX_APP_PERMISSION = "add it on the App's page (Permissions & events), and let owners accept"
_FIX_TOKEN_PERMISSION = "make a token that has it: docs/github.md says which"


def check_github_permissions(context: CheckContext) -> CheckResult:
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        missing = github.fetch_missing()
        is_app = github.app is not None
    if missing:
        page = _FIX_APP_PERMISSION if is_app else _FIX_TOKEN_PERMISSION
        words = f"{count_noun(len(missing), 'thing')} missing, the first: {missing[0]}"
        return failed(words, "\n".join(f"{line}: {page}" for line in missing))
    if is_app:
        return ok("all that are needed, and all events")
    return ok("none missing, as far as GitHub tells of a token")
