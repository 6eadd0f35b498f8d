"""Secrets are read from many places and shown in none."""

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.settings import load_settings

KEY = base64.b64encode(bytes(range(32))).decode()
OTHER = base64.b64encode(bytes(32)).decode()


def settings(environ: Mapping[str, str], cwd: Path = Path("/nonexistent")) -> Settings:
    return load_settings(environ, flags={}, cwd=cwd)


def hook_secrets(found: Settings) -> list[str]:
    return [
        secret.get_secret_value() for secret in GitHubSettings.of(found).webhook_secret
    ]


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "hook").write_text("from-a-file\n")
    (tmp_path / "key").write_text("llm-key\r\n")
    environ = {
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET_FILE": str(tmp_path / "hook"),
        "LLM_API_KEY_FILE": "key",
    }
    found = settings(environ, tmp_path)
    assert hook_secrets(found) == ["from-a-file"]
    assert found.llm.api_key is not None
    assert found.llm.api_key.get_secret_value() == "llm-key"


def test_the_settings_file_can_name_a_secret_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "key.pem").write_text("PEM\n")
    (tmp_path / "etc" / "p.toml").write_text('[github]\nprivate_key_file = "key.pem"\n')
    found = settings({"PATCHWRIGHT_CONFIG": "etc/p.toml"}, tmp_path)
    private_key = GitHubSettings.of(found).private_key
    assert private_key is not None
    assert private_key.get_secret_value() == "PEM"


def test_an_empty_secret_file_counts_as_not_set(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    found = settings({"PATCHWRIGHT_GITHUB__SIGNING_KEY_FILE": "empty"}, tmp_path)
    assert GitHubSettings.of(found).signing_key is None


def test_a_missing_secret_file_is_told() -> None:
    name = "PATCHWRIGHT_GITHUB__TOKEN_FILE"
    with pytest.raises(SettingsError) as caught:
        settings({name: "/nonexistent/token"})
    assert str(caught.value) == (
        f"github.token: the file named in environment variable {name} cannot be read: "
        "No such file or directory"
    )


def test_a_secret_given_twice_is_told() -> None:
    environ = {
        "PATCHWRIGHT_GITHUB__TOKEN": "a-token",
        "PATCHWRIGHT_GITHUB__TOKEN_FILE": __file__,
    }
    with pytest.raises(SettingsError, match=r"^github\.token: set twice, in"):
        settings(environ)


@pytest.mark.parametrize(
    "text",
    ["old-secret,new-secret", "old-secret, new-secret", '["old-secret","new-secret"]'],
)
def test_two_webhook_secrets_hold_while_one_replaces_the_other(text: str) -> None:
    found = settings({"PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": text})
    assert hook_secrets(found) == ["old-secret", "new-secret"]


def test_webhook_secrets_are_a_list_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[github]\nwebhook_secret = ["old one", "new one"]\n'
    )
    assert hook_secrets(settings({}, tmp_path)) == ["old one", "new one"]


def test_a_secret_may_look_like_json() -> None:
    found = settings({"PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "[x"})
    assert hook_secrets(found) == ["[x"]


def test_encryption_keys_are_read_in_order() -> None:
    text = f"new:{KEY}, old:{OTHER}"
    keys = settings({"PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": text}).security
    assert [key.id for key in keys.encryption_keys] == ["new", "old"]
    assert keys.encryption_keys[0].key.get_secret_value() == bytes(range(32))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KEY, "expected id:base64, separated by commas"),
        (f"a b:{KEY}", "expected id:base64, separated by commas"),
        (f"a:{KEY},b:{KEY[:-4]}", "key 2 has 30 bytes instead of 32"),
        (f"{KEY[:20]}:not-base64", "key 1 is not base64"),
        (f"a:{KEY},a:{OTHER}", "two keys have the same id"),
    ],
)
def test_a_wrong_encryption_key_is_told_without_showing_it(
    text: str, message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings({"PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": text})
    line = str(caught.value)
    assert line.startswith(f"security.encryption_keys: {message}, found in")
    assert KEY[:20] not in line


def test_a_private_key_may_come_on_one_line() -> None:
    found = settings({"PATCHWRIGHT_GITHUB__PRIVATE_KEY": "-----BEGIN\\nabc\\n"})
    private_key = GitHubSettings.of(found).private_key
    assert private_key is not None
    assert private_key.get_secret_value() == "-----BEGIN\nabc\n"


ALL_SECRETS = {
    "PATCHWRIGHT_DATABASE__URL": "postgresql+psycopg://me:p%40ssword@db/patchwright",
    "PATCHWRIGHT_QUEUE__BROKER_URL": "redis://:redis-pass@queue/0",
    "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": f"a:{KEY}",
    "PATCHWRIGHT_SECURITY__SESSION_SECRET": "session-secret",
    "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": "admin-token",
    "PATCHWRIGHT_LLM__API_KEY": "llm-key",
    "PATCHWRIGHT_LLM__FAST__API_KEY": "fast-key",
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY": "private-key",
    "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "hook-one,hook-two",
    "PATCHWRIGHT_GITHUB__TOKEN": "github-token",
}


def test_all_secrets_are_gathered() -> None:
    assert set(secret_values(settings(ALL_SECRETS))) == {
        *("p%40ssword", "p@ssword", "redis-pass", KEY, bytes(range(32)).hex()),
        *("session-secret", "admin-token", "llm-key", "fast-key", "private-key"),
        *("hook-one", "hook-two", "github-token"),
    }


def test_without_secrets_nothing_is_gathered() -> None:
    assert secret_values(settings({})) == ()


def test_no_secret_shows_in_the_settings_or_their_errors() -> None:
    found = settings(ALL_SECRETS)
    for secret in secret_values(found):
        assert secret not in repr(found)
        assert secret not in str(found.model_dump())
    wrong = {**ALL_SECRETS, "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": f"a{KEY}"}
    wrong["PATCHWRIGHT_GITHUB__TOKEN"] = '["not", "a-token"]'
    with pytest.raises(SettingsError) as caught:
        settings(wrong)
    assert "a-token" not in str(caught.value)
    assert KEY not in str(caught.value)
