"""Uploads are fetched, private ones by their signed address, and nothing else is."""

import pytest

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.attachments import check_host
from patchwright.integrations.github.connection import Addresses, locate
from tests.adapters.github.conftest import issue_ref
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.discussions import discuss, open_discussion
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.fake import FakeGitHub

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 1000
VAULT = RepoRef(forge="github", full_name="acme/vault")


@pytest.fixture
def vault(fake: FakeGitHub, as_user: GitHub) -> GitHub:
    fake.add_repository("acme/vault", private=True, files={"a.py": "1\n"})
    fake.grant("acme/vault", "ann", "write")
    fake.grant("acme/vault", "robot", "write")
    return as_user


def credentials_shown(fake: FakeGitHub) -> list[CallerKind]:
    api = ("/repos/", "/graphql", "/user", "/app")
    return [s.authorization for s in fake.requests if not s.path.startswith(api)]


def test_s85_a_private_upload_is_read_by_the_signed_address_of_its_post(
    fake: FakeGitHub, vault: GitHub
) -> None:
    url = upload(fake.world, "acme/vault", PNG)
    number = fake.open_issue("acme/vault", "ann", "Broken", f"![shot]({url})")
    comment = fake.comment("acme/vault", number, "ann", f'<img src="{url}">')
    ref = ForgeThread(repo=VAULT, kind=ThreadKind.ISSUE, number=number)
    assert vault.channel.fetch_attachment(ref, url, 10_000) == PNG
    assert vault.channel.fetch_attachment(ref, url, 10_000, str(comment)) == PNG
    assert set(credentials_shown(fake)) == {CallerKind.ANONYMOUS}


def test_s85_a_private_upload_that_its_post_does_not_show_is_not_found(
    fake: FakeGitHub, vault: GitHub
) -> None:
    url = upload(fake.world, "acme/vault", PNG)
    number = fake.open_issue("acme/vault", "ann", "Broken", "No picture.")
    ref = ForgeThread(repo=VAULT, kind=ThreadKind.ISSUE, number=number)
    with pytest.raises(NotFoundError, match="404"):
        vault.channel.fetch_attachment(ref, url, 10_000)


def test_a_public_upload_is_where_github_sends_us(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    url = upload(fake.world, "acme/shop", PNG)
    number = fake.open_issue("acme/shop", "ann", "Broken", url)
    assert as_app.channel.fetch_attachment(issue_ref(number), url, 10_000) == PNG
    assert credentials_shown(fake)[-1] is CallerKind.ANONYMOUS


def test_uploads_in_discussions_are_read_too(fake: FakeGitHub, vault: GitHub) -> None:
    url = upload(fake.world, "acme/vault", PNG)
    talk = open_discussion(
        fake.world, "acme/vault", author="ann", title="How?", body="See below."
    )
    comment = discuss(fake.world, talk.id, author="ann", body=f"![shot]({url})")
    ref = ForgeThread(repo=VAULT, kind=ThreadKind.DISCUSSION, number=talk.number)
    post = f"DC_{comment.id}"
    assert vault.channel.fetch_attachment(ref, url, 10_000, post) == PNG


def test_what_is_too_large_is_not_read_to_its_end(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    url = upload(fake.world, "acme/shop", b"x" * 3_000_000)
    number = fake.open_issue("acme/shop", "ann", "Broken", url)
    with pytest.raises(InvalidRequestError, match="larger than 2 MB"):
        as_app.channel.fetch_attachment(issue_ref(number), url, 2_000_000)


def test_another_host_is_not_asked(fake: FakeGitHub, as_app: GitHub) -> None:
    number = fake.open_issue("acme/shop", "ann", "Broken", "")
    before = len(fake.requests)
    url = fake.web_url.replace("127.0.0.1", "localhost") + "/shot.png"
    with pytest.raises(InvalidRequestError, match="localhost is not a host"):
        as_app.channel.fetch_attachment(issue_ref(number), url, 10_000)
    assert len(fake.requests) == before


def test_a_redirect_to_another_host_is_not_followed(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    number = fake.open_issue("acme/shop", "ann", "Broken", "")
    url = f"{fake.web_url}/sent-elsewhere"
    with pytest.raises(InvalidRequestError, match="localhost is not a host"):
        as_app.channel.fetch_attachment(issue_ref(number), url, 10_000)
    assert credentials_shown(fake) == [CallerKind.ANONYMOUS]


def test_s85_our_token_is_shown_for_files_of_the_same_repository_alone(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    number = fake.open_issue("acme/shop", "ann", "Broken", "")
    for path in ("acme/shop/raw/main/a.png", "acme/vault/raw/main/a.png"):
        with pytest.raises(NotFoundError):
            as_app.channel.fetch_attachment(
                issue_ref(number), f"{fake.web_url}/{path}", 10_000
            )
    seen = [s.authorization for s in fake.requests if "/raw/" in s.path]
    assert len(seen) == 2


def test_a_server_that_fails_is_told(fake: FakeGitHub, as_app: GitHub) -> None:
    url = upload(fake.world, "acme/shop", PNG)
    number = fake.open_issue("acme/shop", "ann", "Broken", url)
    fake.fail_next("GET", "/user-attachments/", 503)
    with pytest.raises(ServiceUnavailableError, match="503"):
        as_app.channel.fetch_attachment(issue_ref(number), url, 10_000)


PUBLIC = locate()
SERVER = Addresses(
    api_url="https://git.acme.dev/api/v3", web_url="https://git.acme.dev"
)


@pytest.mark.parametrize(
    ("addresses", "url"),
    [
        (PUBLIC, "https://github.com/user-attachments/assets/1"),
        (PUBLIC, "https://user-images.githubusercontent.com/1/2.png"),
        (PUBLIC, "https://private-user-images.githubusercontent.com/1/2.png?jwt=x"),
        (PUBLIC, "https://github-production-user-asset-6210df.s3.amazonaws.com/1"),
        (SERVER, "https://git.acme.dev/storage/user/1/files/2"),
        (SERVER, "https://media.git.acme.dev/user/1/files/2"),
    ],
)
def test_the_hosts_of_a_github_are_known(addresses: Addresses, url: str) -> None:
    check_host(addresses, url)


@pytest.mark.parametrize(
    ("addresses", "url"),
    [
        (PUBLIC, "http://github.com/user-attachments/assets/1"),
        (PUBLIC, "https://github.com.evil.example/1.png"),
        (PUBLIC, "https://github.com@evil.example/1.png"),
        (PUBLIC, "https://evil.example/github.com/1.png"),
        (PUBLIC, "https://user-images.githubusercontent.com:8443/1.png"),
        (PUBLIC, "https://bucket.s3.amazonaws.com/1.png"),
        (PUBLIC, "https://169.254.169.254/latest"),
        (SERVER, "https://user-images.githubusercontent.com/1/2.png"),
        (SERVER, "https://internal.example.com/1.png"),
        (SERVER, "file:///etc/passwd"),
    ],
)
def test_all_other_hosts_are_refused(addresses: Addresses, url: str) -> None:
    with pytest.raises(InvalidRequestError):
        check_host(addresses, url)


@pytest.mark.parametrize(
    "url",
    [
        "https://[",
        "https://user-images.githubusercontent.com:99999999/x.png",
        "https://user-images.githubusercontent.com:x/x.png",
        "https://me@user-images.githubusercontent.com/x.png",
    ],
)
def test_what_is_no_address_is_refused_as_one(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        check_host(locate(), url)
