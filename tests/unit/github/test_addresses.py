"""Every address follows from the configured hosts."""

import pytest

from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.github.connection import locate


@pytest.mark.parametrize(
    ("api_url", "web_url"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://api.github.com/", "https://github.com"),
        ("https://api.corp.ghe.com", "https://corp.ghe.com"),
        ("https://ghe.corp.example/api/v3", "https://ghe.corp.example"),
        ("https://ghe.corp.example:8443/api/v3/", "https://ghe.corp.example:8443"),
        ("https://corp.example/ghe/api/v3", "https://corp.example/ghe"),
    ],
)
def test_s14_web_address_follows_from_the_api(api_url: str, web_url: str) -> None:
    assert locate(api_url).web_url == web_url


def test_web_address_may_be_given() -> None:
    found = locate("https://api.corp.example", "https://git.corp.example/")
    assert found.web_url == "https://git.corp.example"


def test_s14_links_and_clone_urls_are_on_that_host() -> None:
    found = locate("https://ghe.corp.example/api/v3")
    repo = RepoRef(forge="github", full_name="acme/shop")
    links = {
        found.clone_url("acme/shop"): ".git",
        found.repository_url("acme/shop"): "",
        found.pull_request_url("acme/shop", 7): "/pull/7",
        found.thread_url(ForgeThread(repo=repo, kind=ThreadKind.ISSUE, number=7)): (
            "/issues/7"
        ),
        found.thread_url(
            ForgeThread(repo=repo, kind=ThreadKind.PULL_REQUEST, number=8)
        ): "/pull/8",
    }
    assert list(links) == [
        f"https://ghe.corp.example/acme/shop{end}" for end in links.values()
    ]
