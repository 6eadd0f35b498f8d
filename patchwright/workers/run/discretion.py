"""Keep out of a change what was said in private, also while the run works on it."""

from patchwright.core.types.threads import TalkThread
from patchwright.resolver.delivering.concealing import (
    concealing,
    concealing_title,
    finding,
    finding_in_names,
)
from patchwright.resolver.guards.private import PrivateWords
from patchwright.workers.run.origins import also_hidden
from patchwright.workers.run.plan import Plan
from patchwright.workers.run.services import Services
from patchwright.workers.store.job import Job


class Discretion:
    """Of one run; it looks anew each time, as people go on talking."""

    def __init__(self, services: Services, job: Job) -> None:
        self._services, self._job = services, job

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with what its readers must not see by now."""
        if plan.hidden is None:
            return plan
        joined = self._services.stores.requests.joined(self._job.id)
        hidden = also_hidden(plan.hidden, [one.trigger for one in joined])
        return plan.replace(hidden=hidden)

    def conceal(self, plan: Plan, text: str) -> str:
        return concealing(self.applied_to(plan).hidden)(text)

    def conceal_title(self, plan: Plan, text: str) -> str:
        return concealing_title(self.applied_to(plan).hidden)(text)

    def private_words(self, plan: Plan) -> PrivateWords | None:
        """Return what no file may repeat; in a private thread a patch shows it."""
        hidden = self.applied_to(plan).hidden
        if hidden is None:
            return None
        is_private = isinstance(self._job.trigger.thread, TalkThread)
        return PrivateWords(
            find=finding(hidden),
            find_in_name=finding_in_names(hidden),
            are_known_here=is_private,
        )
