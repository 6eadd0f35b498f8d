"""The settings of the agent: which models in which role, and how it works."""

from typing import Literal

from pydantic import Field

from patchwright.core.settings.section import SettingsSection

_NAMED = "Which `llm.<name>`; empty: the one of `agent.model`."


class AgentSettings(SettingsSection):
    """How the agent works."""

    name: str = Field(
        "coder", description="Which agent: `coder`, or one that a plug-in brings."
    )
    model: str = Field(
        "", description="Which `llm.<name>` it uses; empty: the one of `llm` itself."
    )
    condense_model: str = Field("", description=f"To condense. {_NAMED}")
    delegate_model: str = Field("", description=f"For delegates. {_NAMED}")
    judge_model: str = Field(
        "",
        description="Which `llm.<name>` looks over a change that no test proves; "
        "empty: nobody does.",
    )
    condenser: tuple[str, ...] = Field(
        ("masking", "summary"),
        description="What shortens a long conversation, tried in this order: `none`, "
        "`recent`, `masking`, `amortised`, `summary`, or one that a plug-in brings.",
    )
    analyzers: tuple[str, ...] = Field(
        ("rules", "model"),
        description="What judges how risky an action is; the highest word counts: "
        "`rules`, `model`, or one that a plug-in brings.",
    )
    confirm: Literal["never", "risky", "always"] = Field(
        "never", description="Which actions wait for a person's word."
    )
    max_delegate_depth: int = Field(
        1, ge=0, le=5, description="How deep delegates may delegate; 0: not at all."
    )
    triage: bool = Field(
        default=True,
        description="Whether a request that says too little, or asks for too much at "
        "once, is answered with a question before a model is paid.",
    )
