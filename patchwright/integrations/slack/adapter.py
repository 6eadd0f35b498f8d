"""Put together what speaks to Slack, from its configured values."""

from dataclasses import dataclass

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import FormRequest
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.channel import SlackChannel
from patchwright.integrations.slack.forms import open_form
from patchwright.integrations.slack.home import HomePage, publish_home
from patchwright.integrations.slack.people import UserNames
from patchwright.integrations.slack.tokens import BotTokens


@dataclass(frozen=True, slots=True)
class Slack:
    """Slack as a channel, with the pages and forms that it has besides."""

    api: SlackClient
    channel: SlackChannel
    people: UserNames

    def open_form(self, wanted: FormRequest) -> None:
        open_form(self.api, wanted)

    def publish_home(self, actor: Actor, installation: str, facts: HomePage) -> None:
        publish_home(self.api, actor, installation, facts)

    def name_person(self, actor: Actor) -> Actor:
        """Return them by the name that others see in their workspace."""
        name = self.people.name_of(actor.host, actor.external_id)
        return actor.replace(login=name)

    def fetch_identity(self, installation: str) -> Actor:
        """Return who we are in that workspace."""
        own = self.api.identity(installation)
        return Actor(
            service=SERVICE,
            login=own.user,
            external_id=own.user_id,
            is_bot=True,
            host=own.team_id,
        )


def connect(api_url: str, *, tokens: BotTokens, clock: Clock) -> Slack:
    """Speak for the app in every workspace that `tokens` has a token of."""
    api = SlackClient(api_url, tokens=tokens, clock=clock)
    people = UserNames(api)
    return Slack(api, SlackChannel(api, people), people)
