"""Projects with a fault, one for each test runner, and the change that mends it."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import ConfigDict

from patchwright.core.types.base import Value

FOLDER = Path(__file__).parent / "projects"


class Release(Value):
    """A release in npm's registry; `integrity` is the hash that npm gives of it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    version: str
    integrity: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Project(Value):
    """One runner's project: its files, its change, and what its tests say of them.

    `recipe` names the Python release that the files are added to; its fault is mended
    by the recipe's edits. `release` is the npm release that they are added to, and
    `fixed_release` the one that has the mended files named in `taken`. `tools` are npm
    packages that the tests need. `fixed` are the tests that fail before and pass after;
    `causes` why they fail. `also` pass before and after. Without `selects` no command
    runs single tests.
    """

    model_config = ConfigDict(extra="forbid")

    runner: str
    command: str
    fixed: tuple[str, ...]
    causes: tuple[str, ...]
    also: tuple[str, ...] = ()
    selects: bool = True
    recipe: str = ""
    release: Release | None = None
    fixed_release: Release | None = None
    taken: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    base: dict[str, str] = {}
    head: dict[str, str] = {}

    def __str__(self) -> str:
        return self.runner


@cache
def load_projects() -> tuple[Project, ...]:
    return tuple(
        Project.model_validate(tomllib.loads(file.read_text()))
        for file in sorted(FOLDER.glob("*.toml"))
    )
