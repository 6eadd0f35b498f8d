"""Linear as a plug-in."""

from typing import Final

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import (
    Plugin,
    ServiceProfile,
    SetupStep,
    TicketMoves,
    import_later,
)
from patchwright.core.plugin_host import SecretName
from patchwright.core.settings.model import Settings
from patchwright.integrations.linear.settings import LinearSettings, review_settings

NAME: Final = "linear"
TITLE: Final = "Linear"
# A team may call its states anything: these stand for the first that fits.
FIRST_STARTED: Final = "the first started status"
FIRST_REVIEW: Final = "the first review status"
_DOCTOR: Final = "patchwright.integrations.linear.doctor"


def describe(settings: Settings) -> ServiceProfile:
    linear = LinearSettings.of(settings)
    workspace = linear.named_workspace
    site = f"{linear.web_url}/{workspace}" if workspace else linear.web_url
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=linear.is_configured,
        web_url=site,
        mention=linear.mention,
        label=linear.label,
        repositories=linear.teams,
        repositories_setting="linear.teams",
        ticket_host=workspace if linear.is_configured else "",
        ticket_url=f"{site}/issue/{{id}}" if workspace else "",
        ticket_moves=TicketMoves(
            on_start=linear.started_state or FIRST_STARTED,
            on_pull=linear.review_state or FIRST_REVIEW,
            on_merge=linear.merged_state,
        ),
        private_host=linear.host,
        addresses={linear.api_url: ""},
        needs_address=bool(linear.client_id),
    )


def setup_steps(_settings: Settings) -> tuple[SetupStep, ...]:
    return (
        SetupStep(
            text="Make an API key of a user for the bot, under Settings, API.",
            link="https://linear.app/settings/api",
            link_title="API settings of Linear",
        ),
        SetupStep(
            text="There, make a webhook too: the URL below, and the events Issues and "
            "Comments. Copy its signing secret."
        ),
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    section=LinearSettings,
    review_settings=review_settings,
    installation_secret=lambda installation: SecretName(installation, NAME),
    host_word="workspace",
    first_settings=("linear.token", "linear.webhook_secret"),
    setup_steps=setup_steps,
    checks=(
        DoctorCheck("linear", import_later(f"{_DOCTOR}:check_linear"), 30),
        DoctorCheck("linear-teams", import_later(f"{_DOCTOR}:check_teams"), 30),
    ),
    connect_chat=import_later("patchwright.integrations.linear.compose:connect"),
)
