"""The models that the settings name, without what calls them.

What is checked before a run imports no more than this.
"""

from dataclasses import dataclass
from typing import Final

from patchwright.core.settings.agent import LlmSettings, ModelSettings
from patchwright.core.settings.model import Settings, missing_model
from patchwright.core.types.errors import SettingsError

# The start of a model's name that is the file of a recording.
RECORDED: Final = "recorded:"


@dataclass(frozen=True, slots=True)
class UsedModel:
    """A model that runs use, and the name of its `llm.<name>`, or empty.

    A run can do without one that is `spare`: it is used if another does not answer.
    """

    settings: ModelSettings
    name: str = ""
    spare: bool = False

    @property
    def model_setting(self) -> str:
        return f"llm.{self.name}.model" if self.name else "LLM_MODEL"

    @property
    def key_setting(self) -> str:
        return f"llm.{self.name}.api_key" if self.name else "LLM_API_KEY"

    @property
    def address_setting(self) -> str:
        return f"llm.{self.name}.base_url" if self.name else "LLM_BASE_URL"


def used_models(settings: Settings) -> tuple[UsedModel, ...]:
    """Return the models of all roles, the main one first; raises `SettingsError`."""
    agent, llm = settings.agent, settings.llm
    needed = {
        "agent.model": agent.model,
        "agent.condense_model": agent.condense_model or agent.model,
        "agent.delegate_model": agent.delegate_model or agent.model,
        "agent.judge_model": agent.judge_model or agent.model,
    }
    spare = {
        **{f"llm.fallbacks[{n}]": name for n, name in enumerate(llm.fallbacks)},
        **({"llm.vision_model": llm.vision_model} if llm.vision_model else {}),
    }
    found = {
        name: UsedModel(find_model(llm, key, name), name)
        for key, name in needed.items()
    }
    for key, name in spare.items():
        found.setdefault(name, UsedModel(find_model(llm, key, name), name, spare=True))
    models = found.values()
    return tuple(one for one in models if not one.settings.model.startswith(RECORDED))


def find_model(llm: LlmSettings, key: str, name: str) -> ModelSettings:
    """Return the model that the setting `key` names; raises `SettingsError`."""
    found = llm.find(name)
    if found is None:
        nearest = llm.nearest(name)
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        raise SettingsError(f"{key}: there is no [llm.{name}]{hint}")
    if not found.model:
        raise SettingsError(missing_model(name))
    return found
