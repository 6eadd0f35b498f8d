"""Settings of the services where no code lives."""

from pathlib import Path

import pytest

from patchwright.core.settings.fields import read_address, read_repositories
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.settings import load_settings, service_errors
from patchwright.integrations.slack.settings import SlackSettings

MODEL = {"LLM_MODEL": "openai/x"}
SLACK = "PATCHWRIGHT_SLACK__"
JIRA = "PATCHWRIGHT_JIRA__"
BOT = {f"{SLACK}BOT_TOKEN": "xoxb-1"}
SIGNING = {f"{SLACK}SIGNING_SECRET": "s"}
SOCKET = {f"{SLACK}APP_TOKEN": "xapp-1"}
CLIENT_ID = {f"{SLACK}CLIENT_ID": "1.2"}
CLIENT = CLIENT_ID | {f"{SLACK}CLIENT_SECRET": "c"}
SITE = {f"{JIRA}BASE_URL": "https://acme.atlassian.net"}
TOKEN = {f"{JIRA}TOKEN": "t"}
USER = {f"{JIRA}USER": "bot@acme.test"}
HOOK = {f"{JIRA}WEBHOOK_SECRET": "h"}
SERVER = {f"{JIRA}TYPE": "datacenter"}
NO_POLLING = {f"{JIRA}POLL_SECONDS": "0"}


def read(environ: dict[str, str]) -> Settings:
    return load_settings(MODEL | environ, flags={}, cwd=Path("/nonexistent"))


@pytest.mark.parametrize(
    "environ",
    [
        BOT | SIGNING,
        BOT | SOCKET,
        BOT | SOCKET | SIGNING,
        CLIENT | SIGNING,
        SITE | TOKEN | USER,
        SITE | TOKEN | USER | HOOK | NO_POLLING,
        SITE | TOKEN | SERVER,
    ],
)
def test_a_whole_configuration_is_accepted(environ: dict[str, str]) -> None:
    assert service_errors(read(environ)) == ()


@pytest.mark.parametrize(
    ("environ", "key", "reason"),
    [
        (BOT, "slack.signing_secret", "without it anybody could send webhooks"),
        (
            SIGNING,
            "slack.bot_token",
            "webhooks arrive but the bot cannot answer; or set a client_id",
        ),
        (SOCKET, "slack.bot_token", "Socket Mode needs the token of its one workspace"),
        (
            CLIENT_ID | SIGNING,
            "slack.client_secret",
            "no workspace can install the app without it",
        ),
        (TOKEN, "jira.base_url", "a token or secret needs the site it belongs to"),
        (HOOK, "jira.base_url", "a token or secret needs the site it belongs to"),
        (SITE | USER, "jira.token", "the bot cannot read or answer without it"),
        (
            SITE | TOKEN | USER | NO_POLLING,
            "jira.webhook_secret",
            "without it and without polling the bot gets no requests",
        ),
        (
            SITE | TOKEN,
            "jira.user",
            "an API token needs the e-mail address of its user",
        ),
    ],
)
def test_what_is_missing_is_told(
    environ: dict[str, str], key: str, reason: str
) -> None:
    name = f"PATCHWRIGHT_{key.upper().replace('.', '__')}"
    told = f"{key}: not set; {reason}: set {name}"
    assert service_errors(read(environ)) == (told,)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        (f"{SLACK}API_URL", "slack.com/api", "expected an address"),
        (f"{SLACK}COMMAND", "patchwright", "expected a command such as /patchwright"),
        (f"{SLACK}COMMAND", "/Fix It", "expected a command such as /patchwright"),
        (f"{SLACK}CHANNELS", '{"C1": "shop"}', "C1: expected a repository"),
        (f"{JIRA}BASE_URL", "acme.atlassian.net", "expected an address"),
        (f"{JIRA}BASE_URL", "https://acme.test/?x=1", "expected an address"),
        (f"{JIRA}LABEL", "fix it", "expected one word: Jira's labels have no spaces"),
        (f"{JIRA}MENTION", "patchwright", "should match pattern"),
        (f"{JIRA}TYPE", "server", "'cloud' or 'datacenter'"),
        (f"{JIRA}PROJECTS", '{"APP": "acme shop"}', "APP: expected a repository"),
        (f"{JIRA}POLL_SECONDS", "-1", "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, value: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        read({name: value})


def test_keys_of_projects_are_in_capitals_and_may_have_no_repository() -> None:
    mapped = '{"app": "acme/shop", "OPS": ""}'
    jira = JiraSettings.of(read({f"{JIRA}PROJECTS": mapped}))
    assert jira.projects == {"APP": "acme/shop", "OPS": ""}


def test_addresses_and_words_of_ones_own_are_kept() -> None:
    own = {f"{SLACK}API_URL": "http://127.0.0.1:5000/api/", f"{JIRA}LABEL": "fix-it"}
    settings = read(own | {f"{SLACK}COMMAND": "/fix_it", f"{JIRA}MENTION": "@fix.it"})
    assert SlackSettings.of(settings).api_url == "http://127.0.0.1:5000/api"
    assert (SlackSettings.of(settings).command, JiraSettings.of(settings).mention) == (
        "/fix_it",
        "@fix.it",
    )
    assert JiraSettings.of(settings).label == "fix-it"


def test_two_secrets_count_while_one_takes_the_place_of_the_other() -> None:
    settings = SlackSettings.of(read({f"{SLACK}SIGNING_SECRET": "old, new"}))
    secrets = [one.get_secret_value() for one in settings.signing_secret]
    assert secrets == ["old", "new"]


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("https://acme.atlassian.net/", "acme.atlassian.net"),
        ("https://Tools.Example:8443/Jira", "tools.example:8443/jira"),
        ("", ""),
    ],
)
def test_a_site_is_named_by_host_and_path(base_url: str, host: str) -> None:
    jira = JiraSettings(base_url=base_url)
    assert jira.host == host
    assert jira.is_configured == bool(base_url)


@pytest.mark.parametrize(
    ("environ", "is_configured"),
    [({}, False), (BOT, True), (CLIENT_ID, True), (SOCKET, True), (SIGNING, False)],
)
def test_slack_is_configured_once_there_is_somebody_to_be(
    environ: dict[str, str], *, is_configured: bool
) -> None:
    assert SlackSettings.of(read(environ)).is_configured is is_configured


@pytest.mark.parametrize("value", ["http://h", "https://h:1/a/b", "https://[::1]/x"])
def test_an_address_has_no_slash_at_its_end(value: str) -> None:
    assert read_address(f"{value}/") == read_address(value) == value


@pytest.mark.parametrize(
    "value", ["", "h", "ftp://h", "https://", "https://h/#x", "https://h x", "//h"]
)
def test_anything_else_is_no_address(value: str) -> None:
    with pytest.raises(ValueError, match="expected an address"):
        read_address(value)


@pytest.mark.parametrize("name", ["", "a/b", "group/sub/c", "A.b-c_d/e"])
def test_a_repository_is_owner_and_name(name: str) -> None:
    assert read_repositories({"C1": name}) == {"C1": name}


@pytest.mark.parametrize("name", ["a", "a/", "/b", "a/b/", "a b/c", "https://h/a"])
def test_anything_else_is_no_repository(name: str) -> None:
    with pytest.raises(ValueError, match="C1: expected a repository"):
        read_repositories({"C1": name})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            '[{"slack": "U1", "trello": "x", "github": "a"}]',
            "there is no service 'trello'",
        ),
        ('[{"slack": "U1"}]', "expected a login at github or gitlab, and ids"),
        (
            '[{"slack": "U1", "github": ""}]',
            "expected a login at github or gitlab, and ids",
        ),
    ],
)
def test_people_are_mapped_to_logins(value: str, reason: str) -> None:
    told = service_errors(read({"PATCHWRIGHT_ACCOUNTS__MAP": value}))
    assert f"accounts.map: entry 1: {reason}" in told
