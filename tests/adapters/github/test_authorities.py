"""A server whose certificate a private authority has signed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import GitError, ServiceError, SettingsError
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.configured import connect_github, trust_for_git
from patchwright.integrations.github.settings import GitHubSettings
from tests.adapters.github.conftest import SHOP, issue_ref
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.tls import Authority, make_authority, tls_before

HEAD = "refs/heads/main"
PICTURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Secure:
    """A GitHub behind TLS, and a token that works there."""

    fake: FakeGitHub
    authority: Authority
    token: str

    def settings(self, ca_bundle: Path | None) -> GitHubSettings:
        return GitHubSettings(
            api_url=self.fake.world.api_url,
            token=SecretStr(self.token),
            ca_bundle=str(ca_bundle or ""),
        )


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Secure]:
    with FakeGitHub(enterprise=True) as fake:
        fake.add_repository("acme/shop", files={"a.py": "1\n"})
        token = fake.add_user("robot")
        fake.grant("acme/shop", "robot", "write")
        authority = make_authority(tmp_path, "ours")
        parts = urlsplit(fake.web_url)
        target = (parts.hostname or "", parts.port or 0)
        with tls_before(target, authority) as address:
            fake.world.web_url = address
            fake.world.api_url = f"{address}/api/v3"
            yield Secure(fake, authority, token)


def test_rest_and_graphql_trust_the_configured_authority(secure: Secure) -> None:
    secure.fake.commit_files("acme/shop", "fix", {"a.py": "2\n"})
    proposal = Proposal(head="fix", base="main", title="Fix", draft=True)
    number = secure.fake.open_pull_request("acme/shop", "robot", proposal)
    settings = secure.settings(secure.authority.bundle)
    with closing(connect_github(settings, MemoryTokenCache(), SystemClock())) as github:
        assert github.forge.fetch_repository(SHOP).clone_url.startswith("https://")
        github.api.ask(
            SHOP, lambda asked: asked.get_pull(number).mark_ready_for_review()
        )
    [pull] = secure.fake.pull_requests("acme/shop")
    assert not pull.draft


def test_git_trusts_the_configured_authority(secure: Secure, tmp_path: Path) -> None:
    settings = secure.settings(secure.authority.bundle)
    mirrors = MirrorCache(tmp_path / "mirrors", trust_for_git(settings))
    url = f"{secure.fake.world.web_url}/acme/shop.git"
    assert len(mirrors.fetch(url, None, [HEAD]).resolve(HEAD)) == 40
    wary = MirrorCache(tmp_path / "others")
    with pytest.raises(GitError, match="certificate"):
        wary.fetch(url, None, [HEAD])


@pytest.mark.parametrize("which", ["another", "none"])
def test_an_authority_that_is_not_trusted_is_named_with_its_remedy(
    secure: Secure, tmp_path: Path, which: str
) -> None:
    other = make_authority(tmp_path, "another").bundle if which == "another" else None
    settings = secure.settings(other)
    with (
        closing(connect_github(settings, MemoryTokenCache(), SystemClock())) as github,
        pytest.raises(ServiceError, match=r"set github\.ca_bundle"),
    ):
        github.forge.fetch_repository(SHOP)


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_bundle_that_is_none_is_a_wrong_setting(
    tmp_path: Path, text: str | None
) -> None:
    bundle = tmp_path / "ca.pem"
    if text is not None:
        bundle.write_text(text)
    settings = GitHubSettings(token=SecretStr("ghp_1"), ca_bundle=str(bundle))
    with pytest.raises(SettingsError, match=r"github\.ca_bundle: .*ca\.pem"):
        connect_github(settings, MemoryTokenCache(), SystemClock())


def test_pictures_come_from_a_server_of_the_configured_authority(
    secure: Secure,
) -> None:
    url = upload(secure.fake.world, "acme/shop", PICTURE)
    number = secure.fake.open_issue("acme/shop", "robot", "Broken", url)
    settings = secure.settings(secure.authority.bundle)
    with closing(connect_github(settings, MemoryTokenCache(), SystemClock())) as github:
        found = github.channel.fetch_attachment(issue_ref(number), url, 1000)
    assert found == PICTURE
