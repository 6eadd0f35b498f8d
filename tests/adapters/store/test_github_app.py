"""The App that was made for the service is kept, for the GitHub it is on."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.system.crypto import DecryptionError, KeyRing
from patchwright.integrations.github.app import NewApp
from patchwright.integrations.github.setup import GitHubAppStore
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore
from tests.fakes.clock import FakeClock

CLOUD = "https://api.github.com"
APP = NewApp(
    id=7,
    slug="fixbot",
    html_url="https://github.com/apps/fixbot",
    client_id="Iv23li",
    client_secret=SecretStr("client-secret"),
    webhook_secret=SecretStr("hook-secret"),
    pem=SecretStr("-----BEGIN RSA PRIVATE KEY-----\nMII\n"),
)


@pytest.fixture
def secrets(tmp_path: Path) -> Iterator[SecretStore]:
    with closing(Database(f"sqlite:///{tmp_path / 'app.db'}")) as database:
        upgrade(database)
        yield SecretStore(database, KeyRing({"k": bytes(32)}, "k"), FakeClock())


def test_what_was_put_comes_back_whole(secrets: SecretStore) -> None:
    GitHubAppStore(secrets, CLOUD).put(APP)
    assert GitHubAppStore(secrets, CLOUD).fetch() == APP


def test_another_github_has_another_app(secrets: SecretStore) -> None:
    GitHubAppStore(secrets, CLOUD).put(APP)
    assert GitHubAppStore(secrets, "https://ghes.example.com/api/v3").fetch() is None


def test_with_another_key_it_is_an_error_and_not_no_app(tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path / 'app.db'}")) as database:
        upgrade(database)
        rings = [KeyRing({name: name.encode() * 32}, name) for name in "ab"]
        first, second = (
            GitHubAppStore(SecretStore(database, ring, FakeClock()), CLOUD)
            for ring in rings
        )
        first.put(APP)
        with pytest.raises(DecryptionError):
            second.fetch()
