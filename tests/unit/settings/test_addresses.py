"""Addresses as people copy them become those that are asked, or are refused."""

from collections.abc import Callable

import pytest

from patchwright.core.settings.agent import ModelSettings
from patchwright.core.settings.fields import (
    is_address,
    is_in_networks,
    read_model_server,
    read_networks,
    read_public_url,
)
from patchwright.core.settings.service import ServerSettings
from patchwright.integrations.github.settings import (
    GitHubSettings,
    read_github_api,
    read_github_web,
)
from patchwright.integrations.jira.settings import JiraSettings, read_jira_site
from patchwright.integrations.slack.settings import SlackSettings, read_slack_api


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://github.com", "https://api.github.com"),
        ("http://www.GitHub.com/", "https://api.github.com"),
        ("https://github.com/api/v3", "https://api.github.com"),
        ("https://api.github.com/", "https://api.github.com"),
        ("https://octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://api.octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://ghe.corp.example", "https://ghe.corp.example/api/v3"),
        ("https://ghe.corp.example:8443/", "https://ghe.corp.example:8443/api/v3"),
        ("https://ghe.corp.example/api/v3/", "https://ghe.corp.example/api/v3"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://api:80", "http://api:80"),
    ],
)
def test_the_api_of_github_is_found(typed: str, meant: str) -> None:
    assert GitHubSettings(api_url=typed).api_url == meant


@pytest.mark.parametrize(
    ("typed", "site"),
    [
        ("https://github.com", "https://github.com"),
        ("https://octo.ghe.com", "https://octo.ghe.com"),
        ("https://ghe.corp.example", "https://ghe.corp.example"),
    ],
)
def test_the_site_follows_from_the_api_that_is_meant(typed: str, site: str) -> None:
    assert GitHubSettings(api_url=typed).web_url == site


@pytest.mark.parametrize(
    ("read", "typed", "meant"),
    [
        (read_github_web, "https://api.github.com", "https://github.com"),
        (
            read_github_web,
            "https://ghe.corp.example/api/v3",
            "https://ghe.corp.example",
        ),
        (
            read_jira_site,
            "https://a.atlassian.net/jira/your-work",
            "https://a.atlassian.net",
        ),
        (read_jira_site, "https://jira.corp/rest/api/2", "https://jira.corp"),
        (read_jira_site, "https://corp/jira/browse/X-1", "https://corp/jira"),
        (read_jira_site, "https://corp/jira", "https://corp/jira"),
        (read_slack_api, "https://slack.com", "https://slack.com/api"),
        (read_slack_api, "https://acme.slack.com/", "https://slack.com/api"),
        (read_slack_api, "http://127.0.0.1:5000/api", "http://127.0.0.1:5000/api"),
        (read_model_server, "https://m.corp/v1/chat/completions", "https://m.corp/v1"),
        (read_model_server, "https://m.corp/v1/", "https://m.corp/v1"),
        (read_public_url, "https://bot.corp/under/", "https://bot.corp/under"),
    ],
)
def test_the_address_that_was_meant_is_found(
    read: Callable[[str], str], typed: str, meant: str
) -> None:
    assert read(typed) == meant


def test_each_setting_reads_its_address_as_it_was_meant() -> None:
    web = GitHubSettings(web_url="https://ghe.corp.example/api/v3").web_url
    assert web == "https://ghe.corp.example"
    jira = JiraSettings(base_url="https://jira.corp/rest/api/2").base_url
    assert jira == "https://jira.corp"
    assert SlackSettings(api_url="https://acme.slack.com/").api_url == (
        "https://slack.com/api"
    )
    model = ModelSettings(base_url="https://m.corp/v1/chat/completions").base_url
    assert model == "https://m.corp/v1"
    server = ServerSettings(public_url="https://bot.corp/under/")
    assert server.public_url == "https://bot.corp/under"


@pytest.mark.parametrize(
    ("read", "typed", "told"),
    [
        (read_github_api, "https://github.com/acme", "use https://api.github.com"),
        (
            read_github_api,
            "https://ghe.corp/api/v3/user",
            "use https://ghe.corp/api/v3",
        ),
        (
            read_github_api,
            "https://ghe.corp/api/graphql",
            "use https://ghe.corp/api/v3",
        ),
        (read_github_api, "https://me:pw@ghe.corp", "without a user's name"),
        (read_github_api, "ghe.corp", "https://HOST/api/v3"),
        (read_github_web, "https://github.com/acme", "use https://github.com"),
        (read_slack_api, "https://slack.com/api/x.y", "use https://slack.com/api"),
        (read_public_url, "bot.corp", "https://HOST"),
        (
            read_public_url,
            "https://b.corp/api/integration/github/events",
            "use https://b.corp",
        ),
        (read_model_server, "m.corp/v1", "https://HOST"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_right_spelling(
    read: Callable[[str], str], typed: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        read(typed)


def test_proxies_are_addresses_or_networks() -> None:
    networks = read_networks(("10.0.0.0/8", "::1"))
    found = [
        is_in_networks(networks, one) for one in ("10.1.2.3", "::1", "11.0.0.1", "x")
    ]
    assert found == [True, True, False, False]
    with pytest.raises(ValueError, match=r"proxy\.corp: expected an address"):
        read_networks(("proxy.corp",))


def test_an_address_without_a_host_is_none() -> None:
    assert not is_address("http://:8080/api/v3")
    assert is_address("http://host:8080/api/v3")
