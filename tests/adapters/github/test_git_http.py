"""Git over smart HTTP, with a GitHub at the other end that checks tokens."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.forge import GitCredential
from patchwright.core.types.errors import (
    AuthenticationError,
    BranchMovedError,
    NotFoundError,
    PermissionDeniedError,
    PushRefusedError,
)
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.integrations.git.remote import BranchUpdate
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.git.workshop import WorkTree
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.acts import accounts
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub

TRUNK = "refs/heads/trunk"


@pytest.fixture
def mirrors(tmp_path: Path) -> MirrorCache:
    return MirrorCache(tmp_path / "mirrors")


def url_of(fake: FakeGitHub) -> str:
    return f"{fake.web_url}/acme/shop.git"


def with_token(token: str) -> GitCredential:
    return GitCredential(username="x-access-token", token=SecretStr(token))


def work(mirror: Mirror, folder: Path) -> str:
    """Commit in a clone, as a sandbox does, and take the commit back."""
    base = mirror.resolve(TRUNK)
    clone = WorkTree.unpack(folder / "clone", mirror.objects.bundle(base))
    clone.write("a.py", b"fixed\n")
    clone.commit()
    return mirror.objects.take(clone.bundle(f"{base}..HEAD"), base, "run1")


def push(
    mirror: Mirror, credential: GitCredential, sha: str, branch: str = "bot/fix"
) -> None:
    mirror.push(
        mirror.clone_url,
        credential,
        BranchUpdate(branch, sha, expect=None, forbidden_branches=("trunk",)),
    )


def test_private_repository_is_fetched_and_pushed_with_the_apps_token(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    credential = as_app.forge.mint_credential(SHOP)
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK])
    sha = work(mirror, tmp_path)
    push(mirror, credential, sha)
    seen = WorkTree(fake.git_folder("acme/shop")).git("rev-parse", "bot/fix")
    assert seen == sha


def test_s82_token_is_nowhere_on_disk_after_fetch_and_push(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    credential = as_app.forge.mint_credential(SHOP)
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK])
    push(mirror, credential, work(mirror, tmp_path))
    token = credential.token.get_secret_value().encode()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 10
    assert not [file for file in files if token in file.read_bytes()]


def test_wrong_token_is_an_authentication_error_that_hides_it(
    fake: FakeGitHub, mirrors: MirrorCache
) -> None:
    with pytest.raises(AuthenticationError) as caught:
        mirrors.fetch(url_of(fake), with_token("ghs_wrong"), [TRUNK])
    assert "ghs_wrong" not in str(caught.value)


def test_s22_an_expired_token_fails_the_push_with_its_name(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    credential = as_app.forge.mint_credential(SHOP)
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK])
    sha = work(mirror, tmp_path)
    accounts.expire_token(fake.world, credential.token.get_secret_value())
    with pytest.raises(AuthenticationError):
        push(mirror, credential, sha)
    push(mirror, as_app.forge.mint_credential(SHOP), sha)


def test_reader_may_not_push(
    fake: FakeGitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    reader = with_token(fake.add_user("eve"))
    mirror = mirrors.fetch(url_of(fake), reader, [TRUNK])
    with pytest.raises(PermissionDeniedError, match="Permission to acme/shop"):
        push(mirror, reader, work(mirror, tmp_path))


def test_hidden_repository_is_not_found(fake: FakeGitHub, mirrors: MirrorCache) -> None:
    fake.add_repository("acme/secret", private=True, files={"a": "1"})
    stranger = with_token(fake.add_user("eve"))
    with pytest.raises(NotFoundError):
        mirrors.fetch(f"{fake.web_url}/acme/secret.git", stranger, ["refs/heads/main"])


def test_protected_branch_is_refused_in_githubs_words(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    fake.protect_branch("acme/shop", "release")
    credential = as_app.forge.mint_credential(SHOP)
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK])
    with pytest.raises(PushRefusedError, match=r"(?i)protected"):
        push(mirror, credential, work(mirror, tmp_path), branch="release")


def test_branch_that_somebody_else_made_meanwhile_is_left_alone(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache, tmp_path: Path
) -> None:
    credential = as_app.forge.mint_credential(SHOP)
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK])
    theirs = fake.commit_files("acme/shop", "bot/fix", {"a.py": "3\n"}, author="ann")
    with pytest.raises(BranchMovedError):
        push(mirror, credential, work(mirror, tmp_path))
    seen = WorkTree(fake.git_folder("acme/shop")).git("rev-parse", "bot/fix")
    assert seen == theirs


def test_s21_fork_pr_fetches_pull_head(
    fake: FakeGitHub, as_app: GitHub, mirrors: MirrorCache
) -> None:
    fake.add_user("eve")
    fake.fork("acme/shop", "eve")
    outside = fake.commit_files("eve/shop", "mine", {"a.py": "3\n"}, author="eve")
    proposal = Proposal(title="Mine", head="eve:mine", base="trunk")
    number = fake.open_pull_request("acme/shop", "eve", proposal)
    credential = as_app.forge.mint_credential(SHOP)
    head = f"refs/pull/{number}/head"
    mirror = mirrors.fetch(url_of(fake), credential, [TRUNK, head])
    assert mirror.resolve(head) == outside
