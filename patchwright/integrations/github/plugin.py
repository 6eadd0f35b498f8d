"""GitHub as a plug-in."""

from typing import Final

from patchwright.core.plugin import (
    Plugin,
    PluginCheck,
    SecretName,
    ServiceProfile,
    import_later,
)
from patchwright.core.settings.model import Settings

NAME: Final = "github"
TITLE: Final = "GitHub"
_COMPOSE: Final = "patchwright.integrations.github.compose"


def installation_name(installation: int | str) -> str:
    """Return the name under which an installation's tokens are stored."""
    return f"github-installation-{installation}"


def describe(settings: Settings) -> ServiceProfile:
    github = settings.github
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
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    connect_forge=import_later(f"{_COMPOSE}:connect"),
    installation_secret=lambda installation: SecretName(
        installation_name(installation)
    ),
    checks=(
        PluginCheck("github", 30),
        PluginCheck("github-permissions"),
        PluginCheck("github-webhook"),
        PluginCheck("github-deliveries"),
    ),
    make_accounts=import_later(f"{_COMPOSE}:make_accounts"),
)
