"""All of GitHub's addresses come from one."""

import pytest

from patchwright.integrations.github.settings import GitHubSettings


@pytest.mark.parametrize(
    ("api", "web", "mail"),
    [
        (
            "https://api.github.com",
            "https://github.com",
            "users.noreply.github.com",
        ),
        (
            "https://ghe.corp.example/api/v3",
            "https://ghe.corp.example",
            "users.noreply.ghe.corp.example",
        ),
        (
            "https://ghe.corp.example:8443/api/v3/",
            "https://ghe.corp.example:8443",
            "users.noreply.ghe.corp.example",
        ),
        (
            "https://api.acme.ghe.com",
            "https://acme.ghe.com",
            "users.noreply.acme.ghe.com",
        ),
        (
            "http://127.0.0.1:5000",
            "http://127.0.0.1:5000",
            "users.noreply.127.0.0.1",
        ),
    ],
)
def test_s14_every_address_derives_from_the_api(api: str, web: str, mail: str) -> None:
    github = GitHubSettings(api_url=api)
    assert github.web_url == web
    assert github.noreply_domain == mail


def test_the_web_address_can_differ() -> None:
    github = GitHubSettings(api_url="http://api:80", web_url="https://git.example/")
    assert github.web_url == "https://git.example"


def test_an_app_id_may_be_a_number() -> None:
    assert GitHubSettings.model_validate({"app_id": 12}).app_id == "12"
