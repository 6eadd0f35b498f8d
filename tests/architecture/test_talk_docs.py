"""The pages about Slack and Jira say what the code asks for and listens to."""

import re
from typing import Any

import pytest
import yaml

from patchwright.core.commands import Verb
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.jira.webhooks.triggers import SERVICE as JIRA
from patchwright.integrations.slack.app import INSTALL_PATH
from patchwright.integrations.slack.text.actions import SERVICE as SLACK
from patchwright.workers.web.webhooks import WEBHOOK_ROUTE
from tests.architecture.tree import ROOT

PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in (SLACK, JIRA)}
COMMANDS = (ROOT / "docs/commands.md").read_text()
CODE = re.compile(r"`([^`\n]+)`")


def slack_app() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "slack.yml").read_bytes())
    return found


def test_each_scope_of_slack_has_its_use_and_no_other_is_named() -> None:
    rows = re.findall(r"^\| (`.*:.*`|`commands`) \|", PAGES[SLACK], re.MULTILINE)
    told = [name for row in rows for name in CODE.findall(row)]
    assert sorted(told) == sorted(slack_app()["oauth_config"]["scopes"]["bot"])


def test_each_event_of_slack_is_named() -> None:
    asked = slack_app()["settings"]["event_subscriptions"]["bot_events"]
    assert set(asked) <= set(CODE.findall(PAGES[SLACK]))


@pytest.mark.parametrize("service", PAGES)
def test_each_command_is_named(service: str) -> None:
    assert "(commands.md)" in PAGES[service]
    rows = re.findall(r"^\| `(\w+)` \|", COMMANDS, re.MULTILINE)
    assert rows == list(Verb)


def test_addresses_are_those_of_the_service() -> None:
    assert f"https://YOUR-HOST{WEBHOOK_ROUTE.format(service=JIRA)}`" in PAGES[JIRA]
    assert f"https://YOUR-HOST{INSTALL_PATH}`" in PAGES[SLACK]


def test_defaults_of_jira_are_those_of_the_code() -> None:
    jira, page = JiraSettings(), " ".join(PAGES[JIRA].split())
    assert f"`{jira.mention}` (`jira.mention`)" in page
    assert f"`{jira.label}` (`jira.label`)" in page
    assert f"every `jira.poll_seconds` seconds ({jira.poll_seconds:.0f})" in page
    assert f"`jira.criteria_fields` (*{jira.criteria_fields[0]}*)" in page
