"""The settings of Linear: one workspace by token, or an app that many install."""

from collections.abc import Iterator
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator

from patchwright.core.doctor import SettingsReview
from patchwright.core.settings.fields import (
    Secrets,
    SettingsSection,
    address_parts,
    read_address,
    read_repositories,
)
from patchwright.core.settings.model import Settings, missing_setting

LINEAR_API: Final = "https://api.linear.app"
_API_PREFIX: Final = "api."
_PAGES: Final = ("", "/graphql")
ANY_WORKSPACE: Final = "*"


def read_linear_api(value: str) -> str:
    """Return the address of Linear's API, without the path of a single call."""
    root, host, path = address_parts(read_address(value))
    if host in ("linear.app", "api.linear.app"):
        if path not in _PAGES:
            raise ValueError(
                f"the path {path} is not part of the API's address: use {LINEAR_API}"
            )
        return LINEAR_API
    return root + path.removesuffix("/graphql")


class LinearSettings(SettingsSection):
    """How to reach Linear, and which repository a team or project is about."""

    api_url: Annotated[str, AfterValidator(read_linear_api)] = Field(
        LINEAR_API, description="Address of Linear's API, without `/graphql`."
    )
    token: SecretStr | None = Field(
        None,
        description="API key of the bot's user, or a token of an app, for the one "
        "workspace it serves.",
    )
    client_id: str = Field(
        "", description="Client id of the app, for workspaces that install it."
    )
    client_secret: SecretStr | None = Field(
        None, description="Client secret of the app, for the same."
    )
    webhook_secret: Secrets = Field(
        (),
        description="Secret that signs webhooks; while you change it, set both, "
        "separated by a comma.",
    )
    workspaces: tuple[str, ...] = Field(
        (),
        description="Workspaces that may install the app, by `NAME` in "
        "`https://linear.app/NAME` (`*`: all). Issues of the first are known by their "
        "keys in other threads.",
    )
    mention: str = Field(
        "@patchwright",
        pattern=r"^@[A-Za-z0-9][A-Za-z0-9_.-]*$",
        description="What mentions the bot in a text, besides mentions of its user.",
    )
    label: str = Field("patchwright", description="Label that starts a run.")
    teams: dict[str, str] = Field(
        {},
        description="Keys of teams or names of projects, and the repository of each; a "
        "project counts more than its team. For others, the repository is "
        "the one that Linear has linked to the issue, or people are asked.",
    )
    started_state: str = Field(
        "",
        description="Status of an issue when a run starts to work on it; empty: the "
        "team's first of the type started.",
    )
    review_state: str = Field(
        "",
        description="Status of an issue when there is a pull request for it; empty: "
        "the team's first for review, if it has one.",
    )
    merged_state: str = Field(
        "",
        description="Status of an issue when the pull request is merged; empty: it "
        "stays where it is.",
    )
    poll_seconds: float = Field(
        300.0,
        ge=0,
        description="Seconds between two polls for requests that came with no "
        "webhook; 0: never.",
    )

    @field_validator("teams")
    @classmethod
    def _read_teams(cls, value: dict[str, str]) -> dict[str, str]:
        return read_repositories(value)

    @property
    def is_configured(self) -> bool:
        return bool(self.token or self.client_id)

    @property
    def web_url(self) -> str:
        """The address under which people have their workspaces."""
        parts = urlsplit(self.api_url)
        host = parts.netloc.removeprefix(_API_PREFIX)
        return f"{parts.scheme}://{host}{parts.path}"

    @property
    def host(self) -> str:
        return urlsplit(self.web_url).hostname or ""

    @property
    def named_workspace(self) -> str:
        """The workspace whose issues other threads may name; empty: none."""
        return next((one for one in self.workspaces if one != ANY_WORKSPACE), "")

    def may_install(self, url_key: str) -> bool:
        return url_key in self.workspaces or ANY_WORKSPACE in self.workspaces

    def repository_of(self, *names: str) -> str:
        """Return the repository of the first of these teams or projects that has one.

        Upper and lower case make no difference.
        """
        known = {key.casefold(): repo for key, repo in self.teams.items()}
        found = (known.get(name.casefold(), "") for name in names if name)
        return next(filter(None, found), "")


def review_settings(settings: Settings) -> SettingsReview:
    linear = LinearSettings.of(settings)
    return SettingsReview(
        errors=tuple(_linear_errors(linear)),
        addresses={"linear.api_url": linear.api_url},
        secrets={"linear.webhook_secret": linear.webhook_secret},
    )


def _linear_errors(linear: LinearSettings) -> Iterator[str]:
    if not linear.is_configured:
        if linear.webhook_secret:
            yield missing_setting(
                ("linear", "token"),
                "webhooks arrive but the bot cannot answer; or set a client_id",
            )
        return
    if linear.token and linear.client_id:
        yield (
            "linear.token: a token is for one workspace, and linear.client_id for "
            "those that install the app; remove one of them"
        )
    if linear.client_id and not linear.client_secret:
        yield missing_setting(
            ("linear", "client_secret"), "no workspace can install the app without it"
        )
    if not linear.webhook_secret and not (linear.token and linear.poll_seconds):
        yield missing_setting(
            ("linear", "webhook_secret"),
            "without it and without polling the bot gets no requests",
        )
