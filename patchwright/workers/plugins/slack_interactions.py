"""Answer interactions in Slack: form fields, defaults, the home tab."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    HomeRequest,
    InteractionRequest,
    OptionsRequest,
)
from patchwright.integrations.github.webhooks.triggers import SERVICE
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.views import MAX_RUNS, HomePage, HomeRun, options_of
from patchwright.resolver.job import Job
from patchwright.resolver.messages.elements import cost_text
from patchwright.resolver.run_store import DEFAULT_REPOSITORY
from patchwright.workers.plugins.people import PersonDirectory
from patchwright.workers.plugins.repository_search import RepositorySearch
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.web.pages.views import state_words

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SlackInteractionHandler:
    """A `InteractionHandler`; `find_page` returns the address of a run's page."""

    slack: Slack
    people: PersonDirectory
    choices: ChoiceStore
    jobs: JobStore
    repositories: RepositorySearch
    find_page: Callable[[JobId, datetime], str]
    clock: Clock

    def answer(self, prompt: InteractionRequest) -> Mapping[str, object]:
        match prompt:
            case OptionsRequest():
                person = self.people.find(prompt.actor)
                found = self.repositories.find(prompt.query, person) if person else ()
                return options_of(found)
            case DefaultChosen():
                self._choose(prompt)
            case FormRequest() | HomeRequest():
                pass
            case _:
                assert_never(prompt)
        return {}

    def follow(self, prompt: InteractionRequest) -> None:
        try:
            match prompt:
                case FormRequest():
                    self.slack.open_form(prompt)
                case HomeRequest() | DefaultChosen():
                    facts = self._facts(prompt.actor)
                    self.slack.publish_home(prompt.actor, prompt.installation, facts)
                case OptionsRequest():
                    pass
                case _:
                    assert_never(prompt)
        except ServiceError as error:
            log.warning("prompt_not_answered", reason=error.reason, error=str(error))

    def _choose(self, chosen: DefaultChosen) -> None:
        """Keep a person's default; who is not known on the forge has none."""
        person = self.people.find(chosen.actor)
        if person is None:
            return
        scope = self.people.scope_of(person)
        if not chosen.repository:
            self.choices.forget(scope, DEFAULT_REPOSITORY)
            return
        repo = RepoRef(forge=SERVICE, full_name=chosen.repository)
        now = self.clock.now()
        self.choices.put(scope, DEFAULT_REPOSITORY, str(repo), by=scope, now=now)

    def _facts(self, actor: Actor) -> HomePage:
        person = self.people.find(actor)
        shown = tuple(map(self._shown, self.jobs.newest_of(actor, MAX_RUNS)))
        if person is None:
            return HomePage(runs=shown)
        default = self.choices.default_of(self.people.scope_of(person))
        return HomePage(
            runs=shown,
            repository=default.full_name if default else "",
            linked_as=person.login,
        )

    def _shown(self, job: Job) -> HomeRun:
        return HomeRun(
            state=state_words(job),
            title=job.trigger.title,
            url=self.find_page(job.id, job.created_at),
            cost=cost_text(job.outcome.usage) if job.outcome else "",
        )
