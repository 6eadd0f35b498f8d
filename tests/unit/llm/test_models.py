"""The settings name a model for each role."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.llm.model import Models
from patchwright.core.settings.agent import AgentSettings, LlmSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.service import DatabaseSettings
from patchwright.core.types.errors import SettingsError
from patchwright.workers.agent_configuration import make_models
from tests.fakes.clock import FakeClock

NAMED = {"model": "openai/big", "fast": {"model": "openai/fast"}}


def models(llm: Mapping[str, object], **agent: str) -> Models:
    settings = Settings(
        state_dir=Path("unused"),
        database=DatabaseSettings(url=SecretStr("sqlite://")),
        llm=LlmSettings.model_validate(llm),
        agent=AgentSettings.model_validate(agent),
    )
    return make_models(settings, FakeClock())


def test_without_names_every_role_has_the_same_model_and_nobody_judges() -> None:
    made = models({"model": "openai/big"})
    assert made.main.name == "openai/big"
    assert made.condense is made.delegate is made.main
    assert made.judge is None


def test_a_named_model_serves_its_roles_and_is_made_once() -> None:
    made = models(NAMED, condense_model="fast", judge_model="fast")
    assert made.main.name == "openai/big"
    assert made.condense.name == "openai/fast"
    assert made.judge is made.condense
    assert made.delegate is made.main


def test_other_roles_follow_the_agents_model() -> None:
    made = models(NAMED, model="fast")
    assert made.condense is made.delegate is made.main
    assert made.main.name == "openai/fast"


@pytest.mark.parametrize(
    ("llm", "agent", "message"),
    [
        (
            NAMED,
            {"model": "fsat"},
            "agent.model: there is no [llm.fsat]; did you mean 'fast'?",
        ),
        (
            {"model": "x"},
            {"judge_model": "j"},
            "agent.judge_model: there is no [llm.j]",
        ),
        (
            {**NAMED, "fallbacks": ["fasst"]},
            {},
            "llm.fallbacks: there is no [llm.fasst]; did you mean 'fast'?",
        ),
        (
            {**NAMED, "vision_model": "eyes"},
            {},
            "llm.vision_model: there is no [llm.eyes]; did you mean 'fast'?",
        ),
    ],
)
def test_a_name_that_is_not_configured_is_an_error_with_the_nearest(
    llm: Mapping[str, object], agent: Mapping[str, str], message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        models(llm, **agent)
    assert str(caught.value) == message


def test_a_model_without_a_name_is_asked_for() -> None:
    with pytest.raises(SettingsError, match=r"^llm\.model: not set; no run can start"):
        models({})
    with pytest.raises(SettingsError, match=r"^llm\.fast\.model: not set"):
        models({"model": "x", "fast": {}}, model="fast")
