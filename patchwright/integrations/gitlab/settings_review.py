"""Judge the settings of GitLab: what keeps the service from starting, and cautions."""

from collections.abc import Iterator

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from pydantic import SecretStr

from patchwright.core.doctor import CheckResult, SettingsReview, warning
from patchwright.core.settings.model import Settings, missing_setting
from patchwright.integrations.gitlab.settings import GitLabSettings


def review_settings(settings: Settings) -> SettingsReview:
    gitlab = GitLabSettings.of(settings)
    return SettingsReview(
        errors=tuple(_gitlab_errors(gitlab)),
        addresses={"gitlab.base_url": gitlab.base_url},
        # GitLab makes the signing token, and makes it long enough.
        secrets={"gitlab.webhook_secret": gitlab.webhook_secret},
        warnings=tuple(_cautions(gitlab)),
    )


def _gitlab_errors(gitlab: GitLabSettings) -> Iterator[str]:
    has_secret = bool(gitlab.webhook_secret or gitlab.webhook_signing_key)
    if gitlab.is_configured and not has_secret:
        yield missing_setting(
            ("gitlab", "webhook_secret"), "without it anybody could send webhooks"
        )
    if has_secret and not gitlab.is_configured:
        yield missing_setting(
            ("gitlab", "token"), "webhooks arrive but the bot cannot answer"
        )
    if gitlab.client_id and not gitlab.client_secret:
        yield missing_setting(
            ("gitlab", "client_secret"), "nobody can sign in without it"
        )
    if gitlab.client_secret and not gitlab.client_id:
        yield missing_setting(("gitlab", "client_id"), "nobody can sign in without it")
    if gitlab.signing_key is not None and not _is_ssh_key(gitlab.signing_key):
        yield (
            "gitlab.signing_key: not an OpenSSH private key without a passphrase; "
            "make one with `ssh-keygen -t ed25519 -N ''`"
        )


def _cautions(gitlab: GitLabSettings) -> Iterator[CheckResult]:
    if gitlab.webhook_secret and gitlab.webhook_signing_key:
        yield warning(
            "gitlab.webhook_secret has no effect with gitlab.webhook_signing_key",
            "set the signing token of every webhook, and remove gitlab.webhook_secret",
        )


def _is_ssh_key(text: SecretStr) -> bool:
    try:
        load_ssh_private_key(text.get_secret_value().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return True
