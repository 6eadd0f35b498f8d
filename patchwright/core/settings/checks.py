"""Check whether the service can start with these settings."""

from collections.abc import Iterator
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_ssh_private_key,
)
from pydantic import SecretStr

from patchwright.core.settings.github import GitHubSettings
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.settings.model import KeyPath, Settings, dotted_key, variable_name
from patchwright.core.settings.service import AccountSettings
from patchwright.core.settings.slack import SlackSettings

NO_SHARED_KEY: Final = (
    "security.encryption_keys: not set; processes that share a database need the same "
    "key: set PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS to `id:` and the base64 of 32 "
    "random bytes"
)


def service_errors(settings: Settings) -> tuple[str, ...]:
    """Return a line for everything that keeps `serve` from starting."""
    return (
        *_model_errors(settings),
        *_github_errors(settings.github),
        *_slack_errors(settings.slack),
        *_jira_errors(settings.jira),
        *_account_errors(settings.accounts),
        *_key_errors(settings),
    )


def _model_errors(settings: Settings) -> Iterator[str]:
    name = settings.agent.model
    model = settings.llm.find(name)
    if model is None:
        yield f"agent.model: there is no model llm.{name}; set llm.{name}.model"
    elif not model.model:
        key = ("llm", name, "model") if name else ("llm", "model")
        yield _missing(key, "no run can start without it")


def _key_errors(settings: Settings) -> Iterator[str]:
    if not settings.database.is_sqlite and not settings.security.encryption_keys:
        yield NO_SHARED_KEY


def _github_errors(github: GitHubSettings) -> Iterator[str]:
    if github.is_configured and not github.webhook_secret:
        yield _missing(
            ("github", "webhook_secret"), "without it anybody could send webhooks"
        )
    if github.webhook_secret and not github.is_configured:
        yield _missing(
            ("github", "app_id"),
            "webhooks arrive but the bot cannot answer; or set a token",
        )
    if github.app_id and not github.private_key:
        yield _missing(("github", "private_key"), "an App signs in with it")
    if github.private_key and not github.app_id:
        yield _missing(("github", "app_id"), "the private key belongs to an App")
    if github.client_id and not github.client_secret:
        yield _missing(("github", "client_secret"), "nobody can sign in without it")
    if github.client_secret and not github.client_id:
        yield _missing(("github", "client_id"), "nobody can sign in without it")
    if github.private_key and not _is_rsa_key(github.private_key):
        yield "github.private_key: not an RSA key in PEM; use the file GitHub gave you"
    yield from _signing_errors(github)


def _account_errors(accounts: AccountSettings) -> Iterator[str]:
    if accounts.linking == "required":
        yield (
            "accounts.linking: `required` does not work for people on GitHub yet; use "
            "`auto`: people on Slack and Jira must link their accounts with it too"
        )


def _slack_errors(slack: SlackSettings) -> Iterator[str]:
    if slack.is_configured and not (slack.signing_secret or slack.app_token):
        yield _missing(
            ("slack", "signing_secret"), "without it anybody could send webhooks"
        )
    if slack.signing_secret and not (slack.bot_token or slack.client_id):
        yield _missing(
            ("slack", "bot_token"),
            "webhooks arrive but the bot cannot answer; or set a client_id",
        )
    if slack.app_token and not slack.bot_token:
        yield _missing(
            ("slack", "bot_token"), "Socket Mode needs the token of its one workspace"
        )
    if slack.client_id and not slack.client_secret:
        yield _missing(
            ("slack", "client_secret"), "no workspace can install the app without it"
        )


def _jira_errors(jira: JiraSettings) -> Iterator[str]:
    if not jira.is_configured:
        if jira.webhook_secret or jira.token:
            yield _missing(
                ("jira", "base_url"), "a token or secret needs the site it belongs to"
            )
        return
    if not jira.token:
        yield _missing(("jira", "token"), "the bot cannot read or answer without it")
    if not jira.webhook_secret and not jira.poll_s:
        yield _missing(
            ("jira", "webhook_secret"),
            "without it and without polling the bot gets no requests",
        )
    if jira.flavour == "cloud" and not jira.user:
        yield _missing(
            ("jira", "user"), "an API token needs the e-mail address of its user"
        )


def _signing_errors(github: GitHubSettings) -> Iterator[str]:
    key = github.signing_key
    if key is None and github.commit_signing == "ssh":
        yield _missing(("github", "signing_key"), "`commit_signing` is `ssh`")
    if key is not None and not _is_ssh_key(key):
        yield (
            "github.signing_key: not an OpenSSH private key without a passphrase; "
            "make one with `ssh-keygen -t ed25519 -N ''`"
        )


def _missing(path: KeyPath, reason: str) -> str:
    return f"{dotted_key(path)}: not set; {reason}: set {variable_name(path)}"


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
