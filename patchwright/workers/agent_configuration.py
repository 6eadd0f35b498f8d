"""The models and the agent's configuration that the settings name."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from patchwright.core.agent.agents import find_agent
from patchwright.core.agent.analyzers import choose_analyzer
from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.library import preload_litellm
from patchwright.core.llm.model import Model, Models
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.llm.retry import UNREACHABLE, RetryLimit
from patchwright.core.llm.routing import RoutedModel
from patchwright.core.llm.scripted import RecordedModel, load_recording
from patchwright.core.llm.text_tool_model import TextToolModel
from patchwright.core.settings.agent import LlmSettings, ModelSettings
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.resolver.services import AgentConfiguration
from patchwright.workers.used_models import RECORDED, find_model


def make_agent_configuration(settings: Settings) -> AgentConfiguration:
    """Compose it; raises `SettingsError` where a name means nothing here."""
    agent = settings.agent
    return AgentConfiguration(
        condenser=choose_condenser(agent.condenser),
        analyzer=choose_analyzer(agent.analyzers),
        agent=find_agent(agent.name),
        confirm=agent.confirm,
        max_delegate_depth=agent.max_delegate_depth,
    )


# Takes a model that is really called, and returns what calls it.
Wrap = Callable[[Model], Model]


def unwrapped(model: Model) -> Model:
    return model


def make_models(
    settings: Settings,
    clock: Clock,
    wrap: Wrap = unwrapped,
    first_call: RetryLimit = UNREACHABLE,
) -> Models:
    """Return the model of each role; `recorded:FILE` repeats a recording.

    Roles with the same name share a model, as does what several fall back on.
    `first_call` is how long each tries to reach its provider for the first time.
    """
    making = _ModelFactory(settings.llm, clock, wrap, first_call)
    agent = settings.agent
    main = making.role("agent.model", agent.model)
    return Models(
        main=main,
        condense=making.role(
            "agent.condense_model", agent.condense_model or agent.model
        ),
        delegate=making.role(
            "agent.delegate_model", agent.delegate_model or agent.model
        ),
        judge=making.role("agent.judge_model", agent.judge_model)
        if agent.judge_model
        else None,
    )


def models_by_name(
    settings: Settings, clock: Clock, wrap: Wrap = unwrapped
) -> Callable[[str], Models]:
    """Return a function from the name of the main model to the models of a run.

    Those of the settings are made at once, so that what is wrong with them shows.
    Raises `SettingsError`.
    """
    made = {settings.agent.model: make_models(settings, clock, wrap)}
    lock = Lock()

    def find(name: str) -> Models:
        with lock:
            if name not in made:
                agent = settings.agent.replace(model=name)
                chosen = settings.replace(agent=agent)
                made[name] = make_models(chosen, clock, wrap)
            return made[name]

    return find


def warm_up(settings: Settings) -> None:
    """Begin what the first call of a model would wait for: the import of litellm.

    It costs seconds and twice the memory of everything else, so it waits for the first
    sign that a model will be needed. To call this again is harmless.
    """
    agent = settings.agent
    named = {agent.model, agent.condense_model or agent.model}
    found = [find_model(settings.llm, "agent.model", name) for name in named]
    if not all(model.model.startswith(RECORDED) for model in found):
        preload_litellm()


class _ModelFactory:
    """Makes each model and each chain of models once."""

    def __init__(
        self, llm: LlmSettings, clock: Clock, wrap: Wrap, first_call: RetryLimit
    ) -> None:
        self._llm, self._clock, self._wrap = llm, clock, wrap
        self._first_call = first_call
        self._made: dict[str, Model] = {}
        self._roles: dict[str, Model] = {}

    def role(self, key: str, name: str) -> Model:
        if name not in self._roles:
            self._roles[name] = self._chain(key, name)
        return self._roles[name]

    def _chain(self, key: str, name: str) -> Model:
        own = self._model(key, name)
        if isinstance(own, RecordedModel):
            return own
        chain = [name, *(other for other in self._fallbacks() if other != name)]
        vision = self._llm.vision_model
        models = [own, *(self._model("llm.fallbacks", other) for other in chain[1:])]
        if not vision or vision in chain:
            return RoutedModel(models, self._clock) if len(models) > 1 else own
        models.append(self._model("llm.vision_model", vision))
        return RoutedModel(models, self._clock, only_for_images=len(chain))

    def _fallbacks(self) -> Iterator[str]:
        yield from dict.fromkeys(self._llm.fallbacks)

    def _model(self, key: str, name: str) -> Model:
        if name not in self._made:
            self._made[name] = self._new(find_model(self._llm, key, name), name)
        return self._made[name]

    def _new(self, found: ModelSettings, name: str) -> Model:
        if found.model.startswith(RECORDED):
            path = Path(found.model.removeprefix(RECORDED))
            return RecordedModel(load_recording(path))
        is_for_images = bool(name) and name == self._llm.vision_model
        config = _config(found, is_for_images=is_for_images)
        model = self._wrap(
            LitellmModel(config, self._clock, first_call=self._first_call)
        )
        if found.tool_calls == "native":
            return model
        return TextToolModel(model, always=found.tool_calls == "text")


def _config(found: ModelSettings, *, is_for_images: bool) -> ModelConfig:
    sees = found.sees_images
    return ModelConfig(
        model=found.model,
        api_key=found.api_key,
        base_url=found.base_url or None,
        api_version=found.api_version or None,
        input_cost_per_token=found.input_cost_per_token,
        output_cost_per_token=found.output_cost_per_token,
        cached_cost_per_token=found.cached_cost_per_token,
        context_window=found.context_window,
        max_output_tokens=found.max_output_tokens,
        sees_images=True if sees is None and is_for_images else sees,
        reasoning_effort=found.reasoning_effort or None,
    )
