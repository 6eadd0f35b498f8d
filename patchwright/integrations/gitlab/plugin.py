"""GitLab as a plug-in."""

from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import (
    CiEntry,
    Plugin,
    ServiceProfile,
    SetupStep,
    TokenSource,
    import_later,
)
from patchwright.core.settings.model import Settings, with_section
from patchwright.core.types.purpose import Purpose
from patchwright.integrations.gitlab.settings import FORMS, SERVICE, GitLabSettings

TITLE: Final = "GitLab"
_COMPOSE: Final = "patchwright.integrations.gitlab.compose"
_DOCTOR: Final = "patchwright.integrations.gitlab.doctor"


def describe(settings: Settings) -> ServiceProfile:
    gitlab = GitLabSettings.of(settings)
    return ServiceProfile(
        name=SERVICE,
        title=TITLE,
        is_configured=gitlab.is_configured,
        web_url=gitlab.base_url,
        account_host=gitlab.base_url,
        can_sign_in=bool(gitlab.client_id and gitlab.client_secret),
        mention=gitlab.mention,
        label=gitlab.label,
        forms=FORMS,
        mail_domain=gitlab.noreply_domain,
        commit_key=gitlab.signing_key,
        addresses={gitlab.base_url: gitlab.ca_bundle},
        authorities_setting="gitlab.ca_bundle",
        needs_address=bool(gitlab.webhook_secret or gitlab.webhook_signing_key),
        is_own_server=gitlab.is_own_server,
    )


def find_token_source(settings: Settings) -> TokenSource:
    """Return where `glab` has its token.

    https://docs.gitlab.com/cli/#environment-variables
    """
    host = urlsplit(GitLabSettings.of(settings).base_url).netloc
    is_cloud = not GitLabSettings.of(settings).is_own_server

    def add_to(settings: Settings, token: SecretStr) -> Settings:
        return with_section(settings, GitLabSettings.of(settings).replace(token=token))

    return TokenSource(
        host=host,
        variables=("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"),
        command=("glab", "config", "get", "token", "--host", host),
        log_in="glab auth login" if is_cloud else f"glab auth login --hostname {host}",
        add_to=add_to,
    )


def setup_steps(_settings: Settings) -> tuple[SetupStep, ...]:
    return (
        SetupStep(
            text="Make an access token for the bot, of a project, a group or a user of "
            "its own: the role Developer, the scopes api and write_repository."
        ),
        SetupStep(
            text="Make a webhook in the project or the group: the URL below, a secret "
            "token, and the events of pushes, comments, issues, merge requests and "
            "pipelines."
        ),
    )


PLUGIN: Final = Plugin(
    name=SERVICE,
    title=TITLE,
    describe=describe,
    section=GitLabSettings,
    review_settings=import_later(
        "patchwright.integrations.gitlab.settings_review:review_settings"
    ),
    connect_forge=import_later(f"{_COMPOSE}:connect"),
    first_settings=("gitlab.base_url", "gitlab.token", "gitlab.webhook_secret"),
    setup_steps=setup_steps,
    checks=(
        DoctorCheck(
            "gitlab",
            import_later(f"{_DOCTOR}:check_gitlab"),
            30,
            useful_to=frozenset({Purpose.RESOLVE}),
        ),
        DoctorCheck(
            "gitlab-permissions", import_later(f"{_DOCTOR}:check_permissions"), 30
        ),
        DoctorCheck("gitlab-webhook", import_later(f"{_DOCTOR}:check_webhook"), 30),
        DoctorCheck("gitlab-deliveries", import_later(f"{_DOCTOR}:check_deliveries")),
    ),
    fetch_time=import_later(f"{_DOCTOR}:fetch_time"),
    make_probe=import_later(f"{_DOCTOR}:make_probe"),
    make_accounts=import_later(f"{_COMPOSE}:make_accounts"),
    find_token_source=find_token_source,
    address_setting="gitlab.base_url",
    ci=CiEntry(
        "GITLAB_CI", import_later("patchwright.integrations.gitlab.ci.system:GitLabCi")
    ),
)
