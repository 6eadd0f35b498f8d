"""What whoever starts this process says about all its runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig


@dataclass(frozen=True)
class Orders:
    """Orders count before what a repository says for itself.

    `config` are values for fields of `RepositoryConfig`, by name; `config_file` is
    where the repository says its own. With `rehearses` nothing is written anywhere
    outside, and what would be is told. `schema` is a JSON schema, as text, for what the
    agent hands over besides its words.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    config_file: str = CONFIG_FILE
    rehearses: bool = False
    schema: str = ""

    def over(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return what a repository says with the orders on top of it."""
        return config.model_copy(update=dict(self.config))
