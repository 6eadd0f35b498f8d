"""All settings, as one frozen value."""

from pathlib import Path

from pydantic import Field

from patchwright.core.settings.agent import AgentSettings
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.settings.llm import LlmSettings
from patchwright.core.settings.mcp import McpSettings
from patchwright.core.settings.section import SettingsSection
from patchwright.core.settings.service import (
    AccountSettings,
    DatabaseSettings,
    QueueSettings,
    SecuritySettings,
    ServerSettings,
)
from patchwright.core.settings.slack import SlackSettings
from patchwright.core.settings.telemetry import TelemetrySettings
from patchwright.core.settings.work import (
    LimitSettings,
    SandboxSettings,
)


class Settings(SettingsSection):
    """Everything that can be set; `load` makes it."""

    log_json: bool = Field(
        default=False, description="Write the log as one JSON object a line."
    )
    state_dir: Path = Field(
        description="Folder for the database, its keys and copies of repositories.",
        json_schema_extra={
            "default": "`${XDG_STATE_HOME:-~/.local/state}/patchwright`"
        },
    )
    server: ServerSettings = ServerSettings()
    database: DatabaseSettings
    queue: QueueSettings = QueueSettings()
    security: SecuritySettings = SecuritySettings()
    accounts: AccountSettings = AccountSettings()
    llm: LlmSettings = LlmSettings()
    agent: AgentSettings = AgentSettings()
    limits: LimitSettings = LimitSettings()
    sandbox: SandboxSettings = SandboxSettings()
    mcp: McpSettings = McpSettings()
    github: GitHubSettings = GitHubSettings()
    slack: SlackSettings = SlackSettings()
    jira: JiraSettings = JiraSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
