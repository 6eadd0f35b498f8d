"""Answer interactions in Slack: form fields, defaults, the home tab."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

import structlog

from patchwright.core.plugin_host import PersonServices
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.triggers import (
    DefaultChosen,
    FormRequest,
    HomeRequest,
    InteractionRequest,
    OptionsRequest,
)
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.views import MAX_RUNS, options_of

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SlackInteractionHandler:
    """An `InteractionHandler`."""

    slack: Slack
    people: PersonServices

    def answer(self, prompt: InteractionRequest) -> Mapping[str, object]:
        match prompt:
            case OptionsRequest():
                found = self.people.find_repositories(prompt.actor, prompt.query)
                return options_of(found)
            case DefaultChosen():
                self.people.choose_repository(prompt.actor, prompt.repository)
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
                    facts = self.people.summarize(prompt.actor, MAX_RUNS)
                    self.slack.publish_home(prompt.actor, prompt.installation, facts)
                case OptionsRequest():
                    pass
                case _:
                    assert_never(prompt)
        except ServiceError as error:
            log.warning("prompt_not_answered", reason=error.reason, error=str(error))
