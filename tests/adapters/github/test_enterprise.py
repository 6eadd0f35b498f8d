"""A GitHub Enterprise Server is used through its own addresses alone."""

from collections.abc import Iterator

import pytest

from patchwright.core.forge import PullRequestText
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.connection import locate
from tests.adapters.github.conftest import SHOP, connect, issue_ref
from tests.fakes.github.fake import FakeGitHub


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with FakeGitHub(enterprise=True) as fake:
        fake.add_repository("acme/shop", files={"a.py": "1\n"})
        fake.commit_files("acme/shop", "fix", {"a.py": "2\n"})
        yield fake


def test_s14_rest_graphql_and_links_share_one_host(server: FakeGitHub) -> None:
    token = server.add_user("robot")
    server.grant("acme/shop", "robot", "write")
    assert locate(server.api_url).web_url == server.web_url
    github = connect(server, token)
    try:
        ready = PullRequestText(title="Fix", body="", draft=False)
        opened = github.forge.open_pull_request(SHOP, "fix", "main", ready)
        draft = ready.replace(draft=True)
        assert github.forge.update_pull_request(SHOP, opened.number, draft).draft
        assert github.forge.find_pull_request(SHOP, "fix") is not None
        assert github.channel.fetch_thread(issue_ref(opened.number)).title == "Fix"
        assert opened.url.startswith(f"{server.web_url}/acme/shop/pull/")
    finally:
        github.close()
    paths = {seen.path for seen in server.requests}
    assert "/api/graphql" in paths
    assert all(path.startswith("/api/") for path in paths)


def test_repository_reference_is_kept(server: FakeGitHub) -> None:
    github = connect(server, server.add_user("robot"))
    try:
        assert github.forge.fetch_repository(SHOP).ref == RepoRef(
            forge="github", full_name="acme/shop"
        )
    finally:
        github.close()
