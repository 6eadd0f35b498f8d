"""Slack and Jira for the processes of a service, with one person in each."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from patchwright.core.webhook import WEBHOOK_ROUTE
from tests.fakes.jira.fake import FakeJira
from tests.fakes.slack.fake import FakeSlack
from tests.flow.story import REPO
from tests.service.processes import ServiceProcess

SECRET = "jira-hook-secret"
PROJECT = "APP"


@dataclass(frozen=True)
class SlackOffice:
    """A workspace with a channel, in which `jo` talks to the bot; jo is alice."""

    fake: FakeSlack
    token: str
    jo: str
    channel: str

    @property
    def settings(self) -> dict[str, str]:
        people = json.dumps([{"slack": self.jo, "github": "alice"}])
        return {
            "PATCHWRIGHT_SLACK__API_URL": self.fake.api_url,
            "PATCHWRIGHT_SLACK__BOT_TOKEN": self.token,
            "PATCHWRIGHT_SLACK__SIGNING_SECRET": self.fake.app.signing_secret,
            "PATCHWRIGHT_ACCOUNTS__MAP": people,
        }


@contextmanager
def slack_office() -> Iterator[SlackOffice]:
    with FakeSlack() as fake:
        team = fake.scene.add_workspace()
        token = fake.scene.install(team)
        jo = fake.scene.add_user(team, "jo", "Jo Doe")
        channel = fake.scene.add_channel(team, "shop-dev", (jo,))
        yield SlackOffice(fake, token, jo, channel)


def jira_settings(jira: FakeJira, ann: str) -> Mapping[str, str]:
    """Return how our user reaches a site where `ann` is alice."""
    own = jira.settings()
    assert own.token is not None
    return {
        "PATCHWRIGHT_JIRA__BASE_URL": own.base_url,
        "PATCHWRIGHT_JIRA__USER": own.user,
        "PATCHWRIGHT_JIRA__TOKEN": own.token.get_secret_value(),
        "PATCHWRIGHT_JIRA__WEBHOOK_SECRET": SECRET,
        "PATCHWRIGHT_JIRA__PROJECTS": json.dumps({PROJECT: REPO}),
        "PATCHWRIGHT_JIRA__POLL_SECONDS": "0",
        "PATCHWRIGHT_ACCOUNTS__MAP": json.dumps([{"jira": ann, "github": "alice"}]),
    }


def address(service: ServiceProcess, name: str) -> str:
    """Return where that service delivers."""
    return service.url + WEBHOOK_ROUTE.format(service=name)
