"""A service does not start half configured."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.settings import load_settings, service_errors

PREFIX = "PATCHWRIGHT_"
MODEL = {"LLM_MODEL": "openai/x"}
HOOK = {"PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "hook-secret"}
TOKEN = {"PATCHWRIGHT_GITHUB__TOKEN": "token"}
APP = {"PATCHWRIGHT_GITHUB__APP_ID": "12"}


def pem() -> str:
    key = generate_private_key(public_exponent=65537, key_size=1024)
    form = PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


KEY = {"PATCHWRIGHT_GITHUB__PRIVATE_KEY": pem()}
CLIENT_ID = {"PATCHWRIGHT_GITHUB__CLIENT_ID": "Iv23li"}
CLIENT_SECRET = {"PATCHWRIGHT_GITHUB__CLIENT_SECRET": "secret"}
CLIENT = CLIENT_ID | CLIENT_SECRET


def check(environ: dict[str, str]) -> tuple[str, ...]:
    return service_errors(load_settings(environ, flags={}, cwd=Path("/nonexistent")))


@pytest.mark.parametrize(
    "environ",
    [
        MODEL,
        MODEL | HOOK | TOKEN,
        MODEL | HOOK | APP | KEY,
        MODEL | HOOK | APP | KEY | CLIENT,
        {"PATCHWRIGHT_LLM__A__MODEL": "openai/x", "PATCHWRIGHT_AGENT__MODEL": "a"},
    ],
)
def test_a_whole_configuration_is_accepted(environ: dict[str, str]) -> None:
    assert check(environ) == ()


def test_a_missing_model_is_told_with_its_key() -> None:
    [told] = check({})
    assert told == (
        "llm.model: not set; no run can start without it: set LLM_MODEL, for example "
        "to anthropic/claude-sonnet-4-5, and LLM_API_KEY"
    )


@pytest.mark.parametrize(
    ("environ", "key", "reason"),
    [
        (
            MODEL | TOKEN,
            "github.webhook_secret",
            "without it anybody could send webhooks",
        ),
        (
            MODEL | HOOK,
            "github.app_id",
            "webhooks arrive but the bot cannot answer; or set a token",
        ),
        (MODEL | HOOK | APP, "github.private_key", "an App signs in with it"),
        (MODEL | HOOK | KEY, "github.app_id", "the private key belongs to an App"),
        (MODEL | CLIENT_ID, "github.client_secret", "nobody can sign in without it"),
        (MODEL | CLIENT_SECRET, "github.client_id", "nobody can sign in without it"),
    ],
)
def test_what_is_missing_is_told(
    environ: dict[str, str], key: str, reason: str
) -> None:
    variable = PREFIX + key.replace(".", "__").upper()
    assert check(environ) == (f"{key}: not set; {reason}: set {variable}",)


def test_a_key_that_cannot_sign_is_told() -> None:
    assert check(
        MODEL | HOOK | APP | {"PATCHWRIGHT_GITHUB__PRIVATE_KEY": "no key"}
    ) == ("github.private_key: not an RSA key in PEM; use the file GitHub gave you",)


def test_an_unknown_model_name_is_told() -> None:
    assert check({"PATCHWRIGHT_AGENT__MODEL": "a"}) == (
        "agent.model: there is no model llm.a; set llm.a.model",
    )


def ssh_key() -> str:
    key = Ed25519PrivateKey.generate()
    form = PrivateFormat.OpenSSH
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


SIGNING_KEY = "PATCHWRIGHT_GITHUB__SIGNING_KEY"
SIGNING = "PATCHWRIGHT_GITHUB__COMMIT_SIGNING"
WHOLE = MODEL | HOOK | APP | KEY


def test_s36_a_signing_key_of_openssh_is_accepted() -> None:
    assert check(WHOLE | {SIGNING_KEY: ssh_key(), SIGNING: "ssh"}) == ()
    one_line = ssh_key().replace("\n", "\\n")
    assert check(WHOLE | {SIGNING_KEY: one_line}) == ()


def test_s36_signing_by_ssh_takes_a_key() -> None:
    (error,) = check(WHOLE | {SIGNING: "ssh"})
    assert error.startswith("github.signing_key: not set; ")


@pytest.mark.parametrize("text", [pem(), "ssh-ed25519 AAAA"])
def test_s36_a_signing_key_that_git_could_not_use_is_an_error(text: str) -> None:
    (error,) = check(WHOLE | {SIGNING_KEY: text})
    assert error.startswith("github.signing_key: not an OpenSSH private key")
    assert text not in error


@pytest.mark.parametrize(
    ("signing", "has_key", "by_github", "by_key"),
    [
        ("auto", False, True, False),
        ("auto", True, False, True),
        ("api", True, True, False),
        ("ssh", True, False, True),
        ("none", True, False, False),
    ],
)
def test_s36_either_github_or_the_key_signs(
    signing: str, *, has_key: bool, by_github: bool, by_key: bool
) -> None:
    given = {"commit_signing": signing, **({"signing_key": "k"} if has_key else {})}
    github = GitHubSettings.model_validate(given)
    assert (github.is_signed_by_github, github.commit_key is not None) == (
        by_github,
        by_key,
    )
