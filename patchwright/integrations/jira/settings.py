"""The settings of Jira: a site in Atlassian's cloud, or a data center of one's own."""

import re
from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from patchwright.core.doctor import SettingsReview
from patchwright.core.settings.fields import (
    Secrets,
    SettingsSection,
    address_parts,
    read_address,
    read_repositories,
)
from patchwright.core.settings.model import Settings, missing_setting

_JIRA_PAGE: Final = re.compile(
    r"/(rest|browse|secure|projects|plugins|issues|jira/(software|core|servicedesk))"
    r"(/.*)?\Z"
)
# Jira takes no label with a blank in it.
_LABEL = re.compile(r"\S{1,255}\Z")


class JiraTransitions(SettingsSection):
    """The status that a ticket moves to, by its name; empty: it does not move."""

    on_start: str = Field("", description="When a run starts to work on the ticket.")
    on_pr: str = Field("", description="When there is a pull request for the ticket.")
    on_merge: str = Field("", description="When the pull request is merged.")


class JiraSettings(SettingsSection):
    """How to reach Jira as the bot's user, and which repository a project has."""

    type: Literal["cloud", "datacenter"] = Field(
        "cloud",
        description="`cloud` for Atlassian's cloud, `datacenter` for your own Data "
        "Center.",
    )
    base_url: str = Field("", description="Address of the site, without `/rest`.")
    user: str = Field(
        "",
        description="E-mail address of the bot's user, for Cloud; empty with a "
        "personal access token of a Data Center.",
    )
    token: SecretStr | None = Field(
        None, description="API token (Cloud) or personal access token (Data Center)."
    )
    webhook_secret: Secrets = Field(
        (),
        description="Secret that signs webhooks; while you change it, set both, "
        "separated by a comma.",
    )
    mention: str = Field(
        "@patchwright",
        pattern=r"^@[A-Za-z0-9][A-Za-z0-9_.-]*$",
        description="What mentions the bot in a text, besides mentions of its user.",
    )
    label: str = Field("patchwright", description="Label that starts a run.")
    projects: dict[str, str] = Field(
        {},
        description="Project keys and the repository of each; other projects are "
        "ignored. With an empty value, people are asked for the "
        "repository.",
    )
    criteria_fields: tuple[str, ...] = Field(
        ("Acceptance Criteria",),
        description="Names or ids of fields that belong to the request.",
    )
    transitions: JiraTransitions = JiraTransitions()
    poll_seconds: float = Field(
        60.0,
        ge=0,
        description="Seconds between two polls for requests that came with no "
        "webhook; 0: never.",
    )
    ca_bundle: str = Field(
        "",
        description="PEM file with the certificate authorities to trust, for your own "
        "server.",
    )

    @field_validator("base_url")
    @classmethod
    def _read_base_url(cls, value: str) -> str:
        return read_jira_site(value) if value else ""

    @field_validator("label")
    @classmethod
    def _read_label(cls, value: str) -> str:
        if not _LABEL.match(value):
            raise ValueError("expected one word: Jira's labels have no spaces")
        return value

    @field_validator("projects")
    @classmethod
    def _read_projects(cls, value: dict[str, str]) -> dict[str, str]:
        return {key.upper(): repo for key, repo in read_repositories(value).items()}

    @property
    def is_configured(self) -> bool:
        return bool(self.base_url)

    @property
    def host(self) -> str:
        """Host and path of the site, which name it in threads and identities."""
        parts = urlsplit(self.base_url)
        return f"{parts.netloc}{parts.path}".lower()


def read_jira_site(value: str) -> str:
    """Return the address of a Jira, without the page of it that may be given."""
    root, host, path = address_parts(read_address(value))
    if host.endswith(".atlassian.net"):
        return root
    return root + _JIRA_PAGE.sub("", path)


def review_settings(settings: Settings) -> SettingsReview:
    jira = JiraSettings.of(settings)
    return SettingsReview(
        errors=tuple(_jira_errors(jira)),
        addresses={"jira.base_url": jira.base_url},
        secrets={"jira.webhook_secret": jira.webhook_secret},
    )


def _jira_errors(jira: JiraSettings) -> Iterator[str]:
    if not jira.is_configured:
        if jira.webhook_secret or jira.token:
            yield missing_setting(
                ("jira", "base_url"), "a token or secret needs the site it belongs to"
            )
        return
    if not jira.token:
        yield missing_setting(
            ("jira", "token"), "the bot cannot read or answer without it"
        )
    if not jira.webhook_secret and not jira.poll_seconds:
        yield missing_setting(
            ("jira", "webhook_secret"),
            "without it and without polling the bot gets no requests",
        )
    if jira.type == "cloud" and not jira.user:
        yield missing_setting(
            ("jira", "user"), "an API token needs the e-mail address of its user"
        )
