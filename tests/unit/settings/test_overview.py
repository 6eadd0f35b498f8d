"""The settings in force: their values, where they come from, and no secrets."""

from pathlib import Path

from patchwright.core.settings.model import Settings, all_keys, dotted_key
from patchwright.core.settings.overview import (
    DERIVED,
    SettingInForce,
    setting_text,
    settings_in_force,
)
from patchwright.integrations.settings import ALL_SETTINGS, load_settings

SECRETS = {
    "LLM_API_KEY": "sk-1234567890",
    "PATCHWRIGHT_DATABASE__URL": "postgresql://me:hidden-word@host/db",
    "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": "administrators-token",
    "PATCHWRIGHT_LLM__SMALL__API_KEY": "sk-small-key-12345",
    "PATCHWRIGHT_MCP__SERVERS": '{"docs": {"url": "https://mcp.test/x", "headers": '
    '{"authorization": "Bearer mcp-token-12345"}}}',
    "PATCHWRIGHT_SANDBOX__ALLOW_DOMAINS": '["mcp.test"]',
    "PATCHWRIGHT_SANDBOX__NETWORK": "allowlist",
}


def found_in(settings: Settings) -> dict[str, SettingInForce]:
    parts = settings_in_force(settings)
    return {one.key: one for part in parts for one in part.settings}


def test_each_value_is_told_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-a-file-123\n")
    (tmp_path / "patchwright.toml").write_text(
        "[limits]\nmax_cost_usd = 2\nper_day_usd = 0\n"
        '[github]\ntoken_file = "token"\napi_url = "https://git.acme.test/api/v3"\n'
    )
    settings = load_settings(
        {"LLM_MODEL": "openai/x", "PATCHWRIGHT_LLM__SMALL__MODEL": "openai/y"},
        flags={"server.port": 9},
        cwd=tmp_path,
    )
    found = found_in(settings)
    file = str(tmp_path / "patchwright.toml")
    told = {
        "server.port": ("9", "the command line"),
        "llm.model": ("openai/x", "environment variable LLM_MODEL"),
        "llm.small.model": (
            "openai/y",
            "environment variable PATCHWRIGHT_LLM__SMALL__MODEL",
        ),
        "limits.max_cost_usd": ("2", file),
        "limits.per_day_usd": ("none", file),
        "limits.max_iterations": ("50", "the default"),
        "github.token": ("set", f"the file named in {file}"),
        "github.web_url": ("https://git.acme.test", DERIVED),
        "slack.bot_token": ("not set", "the default"),
        "database.url": ("set", "the default"),
    }
    assert {key: (found[key].value, found[key].where) for key in told} == told
    assert found["llm.small.model"].variable == "PATCHWRIGHT_LLM__SMALL__MODEL"


def test_no_secret_is_told(tmp_path: Path) -> None:
    settings = load_settings(
        {"PATCHWRIGHT_LLM__SMALL__MODEL": "openai/y", **SECRETS},
        flags={},
        cwd=tmp_path,
    )
    text = "\n".join(one.model_dump_json() for one in settings_in_force(settings))
    for hidden in ("sk-1234567890", "hidden-word", "administrators-token"):
        assert hidden not in text
    for hidden in ("sk-small-key-12345", "mcp-token-12345"):
        assert hidden not in text
    assert found_in(settings)["llm.small.api_key"].value == "set"
    assert found_in(settings)["mcp.servers"].value == "set"


def test_every_setting_is_there_once(tmp_path: Path) -> None:
    settings = load_settings({}, flags={}, cwd=tmp_path)
    keys = [one.key for part in settings_in_force(settings) for one in part.settings]
    assert sorted(keys) == sorted(
        dotted_key(one.path) for one in all_keys(ALL_SETTINGS)
    )


def test_values_are_written_as_people_write_them() -> None:
    told = [setting_text(one) for one in (None, False, 3.0, 0.000003, (), {"a": "b"})]
    assert told == ["none", "false", "3", "0.000003", "", '{"a": "b"}']
    assert setting_text(("http://me:word@host",)) == '["http://***@host"]'
