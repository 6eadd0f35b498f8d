"""Where a token is looked for is a line of a forge's plug-in, whatever the forge."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.plugin import Plugin, ServiceProfile, TokenSource
from patchwright.core.settings.model import Settings, secret_values, with_section
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github.plugin import find_token_source
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.settings import load_settings
from patchwright.workers.cli.forge_token import find_forge_token, with_own_token

TOKEN = "glpat-" + "Ab1" * 7


def settings_here(folder: Path, **environ: str) -> Settings:
    return load_settings({"HOME": str(folder), **environ}, flags={}, cwd=folder)


def add_to(settings: Settings, token: SecretStr) -> Settings:
    return with_section(settings, GitHubSettings.of(settings).replace(token=token))


SOURCE = TokenSource(
    host="lab.test",
    variables=("LAB_TOKEN",),
    command=("lab", "token", "--host", "lab.test"),
    log_in="lab login",
    add_to=add_to,
)
LAB = Plugin(
    name="lab",
    title="Lab",
    describe=lambda settings: ServiceProfile(
        name="lab",
        title="Lab",
        is_configured=GitHubSettings.of(settings).is_configured,
    ),
    find_token_source=lambda _settings: SOURCE,
)


def install(folder: Path, script: str) -> str:
    program = folder / "lab"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(folder)


def test_a_variable_of_the_forges_tool_is_enough(tmp_path: Path) -> None:
    found = find_forge_token(LAB, settings_here(tmp_path), {"LAB_TOKEN": TOKEN})
    assert found.found_in == "LAB_TOKEN"
    # So it is taken out of everything that is written.
    assert TOKEN in secret_values(found.settings)


def test_the_tool_is_asked_with_its_own_arguments(tmp_path: Path) -> None:
    path = install(tmp_path, f'[ "$*" = "token --host lab.test" ] && echo {TOKEN}')
    found = find_forge_token(LAB, settings_here(tmp_path), {"PATH": path})
    assert found.found_in == "`lab token --host lab.test`"
    assert TOKEN in secret_values(found.settings)


@pytest.mark.parametrize("script", ["exit 1", "echo", "echo two words"])
def test_without_a_token_the_ways_to_one_are_named(script: str, tmp_path: Path) -> None:
    environ = {"PATH": install(tmp_path, script), "LAB_TOKEN": " "}
    settings = settings_here(tmp_path)
    assert with_own_token(LAB, settings, environ) == settings
    with pytest.raises(SettingsError) as found:
        find_forge_token(LAB, settings, environ)
    assert str(found.value) == (
        "there is no token for lab.test. Do one of these:\n"
        "  log in with `lab login`\n"
        "  set LAB_TOKEN\n"
        "  set PATCHWRIGHT_LAB__TOKEN, or lab.token in a settings file"
    )


@pytest.mark.parametrize(
    ("api_url", "host", "variables"),
    [
        ("https://api.github.com", "github.com", ("GH_TOKEN", "GITHUB_TOKEN")),
        ("https://api.octo.ghe.com", "octo.ghe.com", ("GH_TOKEN", "GITHUB_TOKEN")),
        (
            "https://git.acme.example/api/v3",
            "git.acme.example",
            ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
        ),
    ],
)
def test_each_github_has_its_variables(
    api_url: str, host: str, variables: tuple[str, ...], tmp_path: Path
) -> None:
    settings = settings_here(tmp_path, PATCHWRIGHT_GITHUB__API_URL=api_url)
    source = find_token_source(settings)
    assert (source.host, source.variables) == (host, variables)
    assert source.command == ("gh", "auth", "token", "--hostname", host)
