"""Known bugs of real packages: what was reported, and a run that mends it."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import ConfigDict, JsonValue

from patchwright.core.types.base import Value

FOLDER = Path(__file__).parent / "recipes"


class Turn(Value):
    """One tool call of the recorded model."""

    tool: str
    arguments: dict[str, JsonValue]


class Recipe(Value):
    """One bug: the release that has it, its report, and how a model mends it.

    `sha256` is that of the source distribution. `hidden_test` is a program that fails
    on that release and that the model never sees.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    version: str
    sha256: str
    issue: str
    hidden_test: str
    turns: tuple[Turn, ...]

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"


@cache
def load_recipes() -> tuple[Recipe, ...]:
    files = sorted(FOLDER.glob("*.toml"))
    return tuple(
        Recipe.model_validate(tomllib.loads(file.read_text())) for file in files
    )
