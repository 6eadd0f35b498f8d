"""The tokens that workspaces gave, kept for one test."""

from dataclasses import dataclass, field

from pydantic import SecretStr

from patchwright.core.types.errors import AuthenticationError
from patchwright.integrations.slack.tokens import SlackInstallation


@dataclass
class KeptInstallations:
    kept: dict[str, SlackInstallation] = field(default_factory=dict)

    def token_of(self, installation: str) -> SecretStr:
        found = self.kept.get(installation)
        if found is None:
            raise AuthenticationError(f"the app is not installed in {installation}")
        return found.token

    def save(self, installation: SlackInstallation) -> None:
        self.kept[installation.id] = installation
