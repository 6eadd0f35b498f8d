"""A service does not start half configured."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from patchwright.core.settings.checks import service_errors
from patchwright.core.settings.load import load

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


def check(environ: dict[str, str]) -> tuple[str, ...]:
    return service_errors(load(environ, flags={}, cwd=Path("/nonexistent")))


@pytest.mark.parametrize(
    "environ",
    [
        MODEL,
        MODEL | HOOK | TOKEN,
        MODEL | HOOK | APP | KEY,
        {"PATCHWRIGHT_LLM__A__MODEL": "openai/x", "PATCHWRIGHT_AGENT__MODEL": "a"},
    ],
)
def test_a_whole_configuration_is_accepted(environ: dict[str, str]) -> None:
    assert check(environ) == ()


@pytest.mark.parametrize(
    ("environ", "key", "reason"),
    [
        ({}, "llm.model", "without it no run can start"),
        (
            MODEL | TOKEN,
            "github.webhook_secret",
            "GitHub is configured, and anybody could post",
        ),
        (
            MODEL | HOOK,
            "github.app_id",
            "deliveries come in and cannot be answered; or a token",
        ),
        (MODEL | HOOK | APP, "github.private_key", "an App signs in with it"),
        (MODEL | HOOK | KEY, "github.app_id", "the private key belongs to an App"),
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
