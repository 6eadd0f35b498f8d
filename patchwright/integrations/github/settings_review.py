"""Judge the settings of GitHub: what keeps the service from starting, and cautions."""

from collections.abc import Iterator

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_ssh_private_key,
)
from pydantic import SecretStr

from patchwright.core.doctor import SettingsReview, warning
from patchwright.core.settings.model import Settings, missing_setting
from patchwright.integrations.github.settings import GitHubSettings


def review_settings(settings: Settings) -> SettingsReview:
    github = GitHubSettings.of(settings)
    unused = warning(
        "github.token has no effect with an App",
        "remove github.token, or github.app_id and github.private_key",
    )
    return SettingsReview(
        errors=tuple(_github_errors(github)),
        addresses={"github.api_url": github.api_url},
        secrets={"github.webhook_secret": github.webhook_secret},
        warnings=(unused,) if github.token and github.app_id else (),
    )


def _github_errors(github: GitHubSettings) -> Iterator[str]:
    if github.is_configured and not github.webhook_secret:
        yield missing_setting(
            ("github", "webhook_secret"), "without it anybody could send webhooks"
        )
    if github.webhook_secret and not github.is_configured:
        yield missing_setting(
            ("github", "app_id"),
            "webhooks arrive but the bot cannot answer; or set a token",
        )
    if github.app_id and not github.private_key:
        yield missing_setting(("github", "private_key"), "an App signs in with it")
    if github.private_key and not github.app_id:
        yield missing_setting(("github", "app_id"), "the private key belongs to an App")
    if github.client_id and not github.client_secret:
        yield missing_setting(
            ("github", "client_secret"), "nobody can sign in without it"
        )
    if github.client_secret and not github.client_id:
        yield missing_setting(("github", "client_id"), "nobody can sign in without it")
    if github.private_key and not _is_rsa_key(github.private_key):
        yield "github.private_key: not an RSA key in PEM; use the file GitHub gave you"
    yield from _signing_errors(github)


def _signing_errors(github: GitHubSettings) -> Iterator[str]:
    key = github.signing_key
    if key is None and github.commit_signing == "ssh":
        yield missing_setting(("github", "signing_key"), "`commit_signing` is `ssh`")
    if key is not None and not _is_ssh_key(key):
        yield (
            "github.signing_key: not an OpenSSH private key without a passphrase; "
            "make one with `ssh-keygen -t ed25519 -N ''`"
        )


def _is_ssh_key(text: SecretStr) -> bool:
    try:
        load_ssh_private_key(text.get_secret_value().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return True


def _is_rsa_key(pem: SecretStr) -> bool:
    try:
        key = load_pem_private_key(pem.get_secret_value().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return isinstance(key, RSAPrivateKey)
