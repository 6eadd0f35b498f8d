"""Check that GitHub gave us the permissions and events that are needed."""

from patchwright.resolver.messages.facts import counted
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.connected import github_of
from patchwright.workers.doctor.finding import Finding, failed, ok, skipped

_ASK = "add it on the App's page (Permissions & events), and let owners accept"
_ANOTHER = "make a token that has it: docs/github.md says which"


def check(context: Case) -> Finding:
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with github_of(context) as github:
        missing = github.fetch_missing()
        is_app = github.app is not None
    if missing:
        page = _ASK if is_app else _ANOTHER
        words = f"{counted(len(missing), 'thing')} missing, the first: {missing[0]}"
        return failed(words, "\n".join(f"{line}: {page}" for line in missing))
    if is_app:
        return ok("all that are needed, and all events")
    return ok("none missing, as far as GitHub tells of a token")
