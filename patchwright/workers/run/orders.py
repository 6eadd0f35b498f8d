"""What whoever starts this process says about all its runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.types.work import Outcome

WORK_AT_SERVICE: Final = (
    "Whoever runs the service gets it with `patchwright runs bundle {run}`."
)


@dataclass(frozen=True)
class RunOverrides:
    """Orders count before what a repository says for itself.

    `config` are values for fields of `RepositoryConfig`, by name, and `unsaid` those
    that count where the repository says nothing; `config_file` is where it says its
    own. With `rehearses` nothing is written anywhere outside, and what would be is
    told. `schema` is a JSON schema, as text, for what the agent hands over besides its
    words. Without `waits_for_people` a run that has a question ends with it. `answer`
    is how a request ends at once, where that is known already. `work_at` says where the
    change of a run is that is on no branch; `{run}` stands for its short id.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    config_file: str = CONFIG_FILE
    is_dry_run: bool = False
    schema: str = ""
    waits_for_people: bool = True
    answer: Outcome | None = None
    work_at: str = WORK_AT_SERVICE

    def applied_to(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return what a repository says with the orders on top of it."""
        said = config.model_fields_set
        unsaid = {k: v for k, v in self.defaults.items() if k not in said}
        return config.replace(**unsaid).replace(**self.config)
