"""One forge per installation: which one it is, and what else is refused."""

from pathlib import Path

import pytest

from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.registry import find_forge
from patchwright.integrations.settings import load_settings, service_errors

GITHUB = {
    "PATCHWRIGHT_GITHUB__TOKEN": "1",
    "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "h",
}
GITLAB = {
    "PATCHWRIGHT_GITLAB__TOKEN": "1",
    "PATCHWRIGHT_GITLAB__WEBHOOK_SECRET": "h",
}
FORGE = "PATCHWRIGHT_FORGE"


def read(environ: dict[str, str]) -> Settings:
    model = {"LLM_MODEL": "openai/x"}
    return load_settings(model | environ, flags={}, cwd=Path("/nonexistent"))


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, "github"),
        (GITHUB, "github"),
        (GITLAB, "gitlab"),
        (GITHUB | GITLAB | {FORGE: "gitlab"}, "gitlab"),
        (GITHUB | GITLAB | {FORGE: "github"}, "github"),
        (GITHUB | {FORGE: "gitlab"}, "gitlab"),
    ],
)
def test_the_forge_is_the_one_that_is_configured_or_chosen(
    environ: dict[str, str], name: str
) -> None:
    settings = read(environ)
    assert find_forge(settings).name == name
    assert service_errors(settings) == ()


def test_two_forges_are_refused_until_one_is_chosen() -> None:
    assert service_errors(read(GITHUB | GITLAB)) == (
        (
            "forge: github and gitlab are both configured; set forge to the one that "
            "this service is for, and start another service for the other"
        ),
    )


def test_a_forge_that_is_not_there_is_refused() -> None:
    settings = read({FORGE: "bitbucket"})
    said = "forge: unknown service 'bitbucket'; use github or gitlab"
    assert service_errors(settings) == (said,)
    with pytest.raises(SettingsError) as found:
        find_forge(settings)
    assert str(found.value) == said
