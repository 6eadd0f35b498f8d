"""The model that the settings name."""

from pathlib import Path

from patchwright.core.clock import Clock
from patchwright.core.errors import SettingsError
from patchwright.core.llm.client import LitellmModel, preload
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import Model
from patchwright.core.llm.recording import RecordedModel, load_recording
from patchwright.core.settings.model import Settings
from patchwright.core.settings.work import ModelSettings

RECORDED = "recorded:"


def make_model(settings: Settings, clock: Clock) -> Model:
    """Return the agent's model; `recorded:FILE` repeats a recording."""
    found = _find(settings)
    if found.model.startswith(RECORDED):
        path = Path(found.model.removeprefix(RECORDED))
        return RecordedModel(load_recording(path))
    return LitellmModel(
        ModelConfig(
            model=found.model,
            api_key=found.api_key,
            base_url=found.base_url or None,
            input_cost_per_token=found.input_cost_per_token,
            output_cost_per_token=found.output_cost_per_token,
            context_window=found.context_window,
            max_output_tokens=found.max_output_tokens,
        ),
        clock,
    )


def warm_up(settings: Settings) -> None:
    """Begin what the first call of the model would wait for: the import of litellm.

    It costs seconds and twice the memory of everything else, so it waits for the first
    sign that the model will be needed. To call this again is harmless.
    """
    if not _find(settings).model.startswith(RECORDED):
        preload()


def _find(settings: Settings) -> ModelSettings:
    found = settings.llm.find(settings.agent.model)
    if found is None or not found.model:
        raise SettingsError(
            "llm.model: not set; name a model as litellm spells it: set LLM_MODEL, "
            "--model, or llm.model in patchwright.toml"
        )
    return found
