"""GitHub as a plug-in."""

from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import (
    CiEntry,
    Plugin,
    ServiceProfile,
    TokenSource,
    import_later,
)
from patchwright.core.plugin_host import SecretName
from patchwright.core.settings.model import Settings, with_section
from patchwright.core.types.purpose import Purpose
from patchwright.integrations.github.settings import GitHubSettings

NAME: Final = "github"
TITLE: Final = "GitHub"
_COMPOSE: Final = "patchwright.integrations.github.compose"
_SETUP: Final = "patchwright.integrations.github.setup"
_DOCTOR: Final = "patchwright.integrations.github.doctor"


def installation_name(installation: int | str) -> str:
    """Return the name under which an installation's tokens are stored."""
    return f"github-installation-{installation}"


def describe(settings: Settings) -> ServiceProfile:
    github = GitHubSettings.of(settings)
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=github.is_configured,
        web_url=github.web_url,
        account_host=github.api_url,
        can_sign_in=bool(github.client_id and github.client_secret),
        mention=github.mention,
        label=github.label,
        mail_domain=github.noreply_domain,
        signs_commits=github.is_signed_by_github,
        commit_key=github.commit_key,
        addresses={
            github.api_url: github.ca_bundle,
            github.web_url: github.ca_bundle,
        },
        authorities_setting="github.ca_bundle",
        needs_address=bool(github.app_id),
        is_own_server=github.is_own_server,
        webhook_url=github.webhook_url,
    )


def find_token_source(settings: Settings) -> TokenSource:
    """Return where `gh` has its token: a server has variables of its own.

    https://cli.github.com/manual/gh_help_environment
    """
    github = GitHubSettings.of(settings)
    host = urlsplit(github.web_url).netloc
    is_cloud = host == "github.com" or host.endswith(".ghe.com")

    def add_to(settings: Settings, token: SecretStr) -> Settings:
        return with_section(settings, GitHubSettings.of(settings).replace(token=token))

    return TokenSource(
        host=host,
        variables=("GH_TOKEN", "GITHUB_TOKEN")
        if is_cloud
        else ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
        command=("gh", "auth", "token", "--hostname", host),
        log_in="gh auth login" if is_cloud else f"gh auth login --hostname {host}",
        add_to=add_to,
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    section=GitHubSettings,
    review_settings=import_later(
        "patchwright.integrations.github.settings_review:review_settings"
    ),
    connect_forge=import_later(f"{_COMPOSE}:connect"),
    installation_secret=lambda installation: SecretName(
        installation_name(installation)
    ),
    first_settings=("github.app_id", "github.private_key", "github.webhook_secret"),
    checks=(
        DoctorCheck(
            "github",
            import_later(f"{_DOCTOR}:check_github"),
            30,
            useful_to=frozenset({Purpose.RESOLVE}),
        ),
        DoctorCheck("github-permissions", import_later(f"{_DOCTOR}:check_permissions")),
        DoctorCheck("github-webhook", import_later(f"{_DOCTOR}:check_webhook")),
        DoctorCheck("github-deliveries", import_later(f"{_DOCTOR}:check_deliveries")),
    ),
    fetch_time=import_later(f"{_DOCTOR}:fetch_time"),
    make_probe=import_later(f"{_DOCTOR}:make_probe"),
    make_setup=import_later(f"{_SETUP}:GitHubSetup"),
    complete_settings=import_later(f"{_SETUP}:with_own_mention"),
    make_accounts=import_later(f"{_COMPOSE}:make_accounts"),
    find_token_source=find_token_source,
    address_setting="github.api_url",
    ci=CiEntry(
        "GITHUB_ACTIONS",
        import_later("patchwright.integrations.github.ci.system:GitHubActions"),
    ),
)
