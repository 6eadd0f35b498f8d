"""The pages about services say what the code asks for and listens to."""

import re
from typing import Any

import pytest
import yaml

from patchwright.core.commands import Verb
from patchwright.core.plugin import callback_path
from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.gitlab.configured import PERSONAL_SCOPE
from patchwright.integrations.gitlab.doctor import WEBHOOK_PATH
from patchwright.integrations.gitlab.settings import GitLabSettings
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.jira.webhooks.triggers import SERVICE as JIRA
from patchwright.integrations.linear import tokens as linear_tokens
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.slack.app import INSTALL_PATH
from patchwright.integrations.slack.text.actions import SERVICE as SLACK
from tests.architecture.tree import ROOT

GITLAB, LINEAR = "gitlab", "linear"
PAGES = {
    name: (ROOT / "docs" / f"{name}.md").read_text()
    for name in (SLACK, JIRA, GITLAB, LINEAR)
}
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


def test_addresses_of_gitlab_and_linear_are_those_of_the_service() -> None:
    for service in (GITLAB, LINEAR):
        route = WEBHOOK_ROUTE.format(service=service)
        assert f"`https://YOUR-HOST{route}`" in PAGES[service]
    assert WEBHOOK_ROUTE.format(service=GITLAB) == WEBHOOK_PATH
    assert f"`https://YOUR-HOST{callback_path(GITLAB)}`" in PAGES[GITLAB]
    assert f"the scope `{PERSONAL_SCOPE}`" in PAGES[GITLAB]
    for path in (linear_tokens.INSTALL_PATH, linear_tokens.CALLBACK_PATH):
        assert f"`https://YOUR-HOST{path}`" in PAGES[LINEAR]
    for scope in linear_tokens.SCOPES:
        assert f"`{scope}`" in PAGES[LINEAR]


def test_defaults_of_gitlab_and_linear_are_those_of_the_code() -> None:
    gitlab, linear = GitLabSettings(), LinearSettings()
    page = " ".join(PAGES[GITLAB].split())
    assert f"`{gitlab.mention}` (`gitlab.mention`)" in page
    assert f"`{gitlab.label}` (`gitlab.label`)" in page
    assert f"every `gitlab.poll_seconds` seconds ({gitlab.poll_seconds:.0f})" in page
    page = " ".join(PAGES[LINEAR].split())
    assert f"`{linear.mention}` (`linear.mention`)" in page
    assert f"`{linear.label}` (`linear.label`)" in page
    assert f"Every `linear.poll_seconds` seconds ({linear.poll_seconds:.0f})" in page


@pytest.mark.parametrize("service", [GITLAB, LINEAR])
def test_settings_that_a_page_names_are_there(service: str) -> None:
    section = GitLabSettings if service == GITLAB else LinearSettings
    named = {
        name.removeprefix(f"{service}.")
        for name in re.findall(rf"`({service}\.[a-z_]+)`", PAGES[service])
    }
    assert named
    assert named <= set(section.model_fields)
