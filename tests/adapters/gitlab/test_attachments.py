"""Uploads of the project are read with the token, and nothing else is."""

import pytest

from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.attachments import path_on_server
from patchwright.integrations.gitlab.connection import GitLabAddresses
from tests.adapters.gitlab.conftest import PATH, issue_ref
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Visibility

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 1000
VAULT = "acme/deep/vault"


@pytest.fixture
def vault(fake: FakeGitLab) -> ForgeThread:
    fake.add_project(VAULT, visibility=Visibility.PRIVATE)
    number = fake.open_issue(VAULT, "ann", "Broken", "See below.")
    repo = RepoRef(forge="gitlab", full_name=VAULT)
    return ForgeThread(repo=repo, kind=ThreadKind.ISSUE, number=number)


def without_token(fake: FakeGitLab) -> list[str]:
    """Return the paths of pages that were asked for."""
    return [one.path for one in fake.requests if "/api/v4/" not in one.path]


def test_c4_a_private_upload_is_read_by_each_of_its_addresses(
    fake: FakeGitLab, gitlab: GitLab, vault: ForgeThread
) -> None:
    address = fake.upload(VAULT, "a b.png", PNG)
    number = fake.world.project(VAULT).id
    for url in (
        address,
        f"{fake.base_url}/{VAULT}{address}",
        f"{fake.base_url}/{VAULT.upper()}{address}",
        f"{fake.base_url}/{VAULT}{address.replace(' ', '%20')}",
        f"{fake.base_url}/-/project/{number}{address}",
    ):
        assert gitlab.channel.fetch_attachment(vault, url, 10_000) == PNG
    assert without_token(fake) == []


def test_c4_an_upload_is_read_by_the_address_that_its_post_has(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    address = fake.upload(PATH, "shot.png", PNG)
    number = fake.open_issue(PATH, "ann", "Broken", f"![shot]({address})")
    ref = issue_ref(number)
    text = gitlab.channel.fetch_thread(ref).posts[0].text
    url = text.removeprefix("![shot](").removesuffix(")")
    assert gitlab.channel.fetch_attachment(ref, url, 10_000) == PNG


def test_c4_an_upload_of_another_project_is_not_read_with_our_token(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    fake.add_project(VAULT, visibility=Visibility.PRIVATE)
    address = fake.upload(VAULT, "secret.png", PNG)
    number = fake.open_issue(PATH, "ann", "Broken", "Hm")
    hidden = fake.world.project(VAULT).id
    for url in (
        f"{fake.base_url}/{VAULT}{address}",
        f"{fake.base_url}/-/project/{hidden}{address}",
        address,
    ):
        with pytest.raises(NotFoundError):
            gitlab.channel.fetch_attachment(issue_ref(number), url, 10_000)


def test_c4_where_the_api_has_no_uploads_a_public_page_is_read(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    address = fake.upload(PATH, "shot.png", PNG)
    number = fake.open_issue(PATH, "ann", "Broken", "Hm")
    fake.fail_next("GET", r"/uploads/", 404, body={"error": "404 Not Found"})
    url = f"{fake.base_url}/{PATH}{address}"
    assert gitlab.channel.fetch_attachment(issue_ref(number), url, 10_000) == PNG
    assert len(without_token(fake)) == 1


def test_c4_what_is_too_large_is_not_read_to_its_end(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    address = fake.upload(PATH, "big.png", b"x" * 3_000_000)
    number = fake.open_issue(PATH, "ann", "Broken", "Hm")
    with pytest.raises(InvalidRequestError) as caught:
        gitlab.channel.fetch_attachment(issue_ref(number), address, 2_000_000)
    assert str(caught.value) == "it is larger than 2 MB"


ROOT = GitLabAddresses(base_url="https://git.corp.example/gitlab")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/gitlab/a/b/uploads/x",
        "http://git.corp.example/gitlab/a/b",
        "https://git.corp.example:8443/gitlab/a/b",
        "https://ann:secret@git.corp.example/gitlab/a/b",
        "https://git.corp.example.evil.example/gitlab/a/b",
        "https://git.corp.example/other/a/b",
        "https://git.corp.example/gitlab/../admin",
        "https://git.corp.example/gitlab/%2e%2e/admin",
        "https://[::1/gitlab/a",
        "//evil.example/gitlab/a",
        "file:///etc/passwd",
        "a.png",
    ],
)
def test_c4_only_addresses_of_this_gitlab_are_followed(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        path_on_server(ROOT, url)


def test_c4_the_path_follows_the_prefix() -> None:
    url = "https://git.corp.example/gitlab/a/b/-/raw/main/x.png?inline=1"
    assert path_on_server(ROOT, url) == "/a/b/-/raw/main/x.png"
