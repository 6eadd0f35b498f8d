"""Commits signed with an SSH key are what git itself says is good."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.commits import Signature, signing_options
from patchwright.integrations.settings import load_settings, service_errors
from tests.adapters.git.workshop import WorkTree

BOT = Signature("Patchwright", "bot@example.test")
WHEN = datetime(2030, 1, 1, tzinfo=UTC)


def make_key(path: Path, passphrase: str = "") -> Path:
    words = ["-N", passphrase, "-C", "", "-f", str(path)]
    make = ["ssh-keygen", "-q", "-t", "ed25519", *words]
    subprocess.run(make, check=True, capture_output=True)
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "id_ed25519")


def commit(tree: WorkTree, key: SecretStr | None) -> str:
    objects = tree.objects
    return objects.commit(
        objects.tree_of(tree.head),
        tree.head,
        message="Signed\n",
        author=BOT,
        committer=BOT,
        when=WHEN,
        signing_key=key,
    )


def test_s36_git_verifies_a_commit_signed_by_ssh(
    origin: WorkTree, key: Path, tmp_path: Path
) -> None:
    sha = commit(origin, SecretStr(key.read_text()))
    public = key.with_suffix(".pub").read_text()
    allowed = tmp_path / "allowed"
    allowed.write_text(f"{BOT.email} {public}")
    verify = ("-c", f"gpg.ssh.allowedSignersFile={allowed}", "verify-commit", sha)
    origin.git(*verify)
    assert "Signed" in origin.git("show", "-s", "--format=%B", sha)


def test_s36_a_key_without_its_last_line_end_works(origin: WorkTree, key: Path) -> None:
    assert commit(origin, SecretStr(key.read_text().strip()))


def test_without_a_key_nothing_is_signed(origin: WorkTree) -> None:
    assert "gpgsig" not in origin.git("cat-file", "commit", commit(origin, None))


def test_a_key_that_is_none_is_an_error_that_does_not_show_it(origin: WorkTree) -> None:
    with pytest.raises(GitError) as caught:
        commit(origin, SecretStr("not a key at all"))
    assert "not a key at all" not in str(caught.value)


def test_the_key_is_its_owners_alone_and_gone_afterwards(key: Path) -> None:
    with signing_options(SecretStr(key.read_text())) as options:
        file = Path(options[-1].partition("=")[2])
        assert file.read_text() == key.read_text()
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (
            0o600,
            0o700,
        )
    assert not file.parent.exists()


def test_a_key_with_a_passphrase_is_a_wrong_setting(tmp_path: Path) -> None:
    locked = make_key(tmp_path / "locked", "open sesame").read_text()
    environ = {
        "LLM_MODEL": "openai/x",
        "PATCHWRIGHT_GITHUB__TOKEN": "token",
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "hook-secret",
        "PATCHWRIGHT_GITHUB__SIGNING_KEY": locked,
    }
    (error,) = service_errors(load_settings(environ, flags={}, cwd=tmp_path))
    assert "without a passphrase" in error
