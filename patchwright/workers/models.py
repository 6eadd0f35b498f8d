"""The model that the settings name."""

from pathlib import Path

from patchwright.core.clock import Clock
from patchwright.core.errors import SettingsError
from patchwright.core.llm.client import LitellmModel, preload
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import Model
from patchwright.core.llm.recording import RecordedModel, load_recording
from patchwright.core.settings.model import Settings

RECORDED = "recorded:"


def make_model(settings: Settings, clock: Clock) -> Model:
    """Return the agent's model; `recorded:FILE` repeats a recording."""
    found = settings.llm.find(settings.agent.model)
    if found is None or not found.model:
        raise SettingsError(
            "llm.model: not set; name a model as litellm spells it: set LLM_MODEL, "
            "--model, or llm.model in patchwright.toml"
        )
    if found.model.startswith(RECORDED):
        path = Path(found.model.removeprefix(RECORDED))
        return RecordedModel(load_recording(path))
    preload()
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
