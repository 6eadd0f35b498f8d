"""Keep out of a change what was said in private, also while the run works on it."""

from patchwright.core.types.threads import TalkThread
from patchwright.resolver.delivering.concealing import (
    text_redactor,
    title_redactor,
    quotation_finder,
    file_name_finder,
)
from patchwright.resolver.guards.private import PrivateWords
from patchwright.workers.run.origins import with_private_requests
from patchwright.workers.run.plan import RunPlan
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job


class PrivateTextRedaction:
    """Of one run; it looks anew each time, as people go on talking."""

    def __init__(self, services: RunServices, job: Job) -> None:
        self._services, self._job = services, job

    def applied_to(self, plan: RunPlan) -> RunPlan:
        """Return the plan with what its readers must not see by now."""
        if plan.hidden is None:
            return plan
        joined = self._services.stores.requests.joined(self._job.id)
        hidden = with_private_requests(plan.hidden, [one.trigger for one in joined])
        return plan.replace(hidden=hidden)

    def redact_private(self, plan: RunPlan, text: str) -> str:
        return text_redactor(self.applied_to(plan).hidden)(text)

    def redact_private_title(self, plan: RunPlan, text: str) -> str:
        return title_redactor(self.applied_to(plan).hidden)(text)

    def private_words(self, plan: RunPlan) -> PrivateWords | None:
        """Return what no file may repeat; in a private thread a patch shows it."""
        hidden = self.applied_to(plan).hidden
        if hidden is None:
            return None
        is_private = isinstance(self._job.trigger.thread, TalkThread)
        return PrivateWords(
            find=quotation_finder(hidden),
            find_in_name=file_name_finder(hidden),
            are_known_here=is_private,
        )
