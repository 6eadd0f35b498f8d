"""Servers are configured in tables; what cannot be is refused with the remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.settings.loader import allowed_hosts
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.settings import load_settings

NOWHERE = Path("/nonexistent")
VARIABLE = "PATCHWRIGHT_MCP__SERVERS"
PLACE = f", found in environment variable {VARIABLE}"
URL = "https://tools.example/mcp"


def settings(server: Any, name: str = "fake", **environ: str) -> Settings:
    environ[VARIABLE] = json.dumps({name: server})
    return load_settings(environ, flags={}, cwd=NOWHERE)


def refusal(server: Any, name: str = "fake", **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(server, name, **environ)
    return str(caught.value)


def test_nothing_is_configured_by_default() -> None:
    assert load_settings({}, flags={}, cwd=NOWHERE).mcp.servers == {}


def test_a_file_has_a_table_for_each_server(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        "[sandbox]\nallow_domains = ['Tools.example']\n"
        "[mcp.servers.time]\ncommand = ['python3', '-m', 'mcp_server_time']\n"
        "env = { TZ = 'UTC' }\n"
        "[mcp.servers.web]\nurl = 'https://tools.EXAMPLE/mcp'\ntimeout_seconds = 5\n"
        "tools = ['find']\nheaders = { Authorization = 'Bearer s3cret-token' }\n"
    )
    found = load_settings({}, flags={}, cwd=tmp_path)
    time, web = found.mcp.servers["time"], found.mcp.servers["web"]
    assert time.command == ("python3", "-m", "mcp_server_time")
    assert (time.env, time.timeout_seconds, time.tools) == ({"TZ": "UTC"}, 60, ())
    assert (web.host, web.timeout_seconds, web.tools) == ("tools.example", 5, ("find",))
    assert web.headers["Authorization"].get_secret_value() == "Bearer s3cret-token"


def test_all_servers_can_come_from_a_file_of_secrets(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"fake": {"command": ["fake"]}}))
    found = load_settings({f"{VARIABLE}_FILE": str(file)}, flags={}, cwd=NOWHERE)
    assert found.mcp.servers["fake"].command == ("fake",)


def test_what_is_secret_in_a_header_is_known_as_a_secret() -> None:
    server = {"url": URL, "headers": {"Authorization": "Bearer abc123def"}}
    found = settings(server, PATCHWRIGHT_SANDBOX__ALLOW_DOMAINS='["tools.example"]')
    assert {"Bearer abc123def", "abc123def"} <= set(secret_values(found))
    assert "abc123def" not in repr(found)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ({}, ": set either `command` or `url`"),
        ({"command": ["a"], "url": URL}, ": set either `command` or `url`"),
        ([], ": not a table; write one with `command` or with `url`"),
        (
            {"comand": ["a"]},
            ": unknown key comand; the nearest known one is command",
        ),
        ({"url": "tools.example/mcp"}, ".url: not an http:// or https:// address"),
        ({"url": "file:///etc/passwd"}, ".url: not an http:// or https:// address"),
        (
            {"url": "https://me:pass@tools.example/"},
            ".url: contains a credential; put it into `headers`",
        ),
        (
            {"url": URL, "env": {"A": "1"}},
            ": `env` works only with a `command`; use `headers` with a `url`",
        ),
        (
            {"command": ["a"], "headers": {"A": "1"}},
            ": `headers` work only with a `url`; use `env` with a `command`",
        ),
        ({"command": [""]}, ": `command` starts with an empty string"),
        (
            {"command": ["a"], "env": {"A=B": "1"}},
            ".env: 'A=B' is not a valid name for a variable",
        ),
        (
            {"url": URL, "headers": {"Host": "x"}},
            ".headers: 'Host' is not a header that can be set",
        ),
        (
            {"url": URL, "headers": {"A": "1\r\nB: 2"}},
            ".headers: the value of A is not one line of ASCII",
        ),
        (
            {"command": ["a"], "timeout_seconds": 0},
            ".timeout_seconds: Input should be greater than 0",
        ),
    ],
)
def test_a_wrong_table_is_told_with_its_place(server: Any, message: str) -> None:
    assert refusal(server) == f"mcp.servers.fake{message}{PLACE}"


@pytest.mark.parametrize("name", ["two words", "1st", "a__b", "x" * 33, ""])
def test_a_name_that_tools_cannot_start_with_is_refused(name: str) -> None:
    line = refusal({"command": ["a"]}, name)
    assert line.startswith(
        f"mcp.servers: {name!r} is not a valid name for a server: use"
    )


def test_servers_that_are_not_json_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"^mcp.servers: not JSON; write"):
        load_settings({VARIABLE: "{"}, flags={}, cwd=NOWHERE)


def test_a_host_must_be_listed() -> None:
    assert refusal({"url": "http://127.0.0.1:1/"}) == (
        "mcp.servers.fake.url: the host 127.0.0.1 is not allowed; add it to "
        "sandbox.allow_domains (PATCHWRIGHT_SANDBOX__ALLOW_DOMAINS)"
    )


@pytest.mark.parametrize(
    "env",
    [
        {"LLM_API_KEY": "another"},
        {"PATCHWRIGHT_GITHUB__TOKEN": "another"},
        {"PATCHWRIGHT_GITHUB__TOKEN_FILE": "/run/token"},
        {"KEY": "prefix sk-live-0123456789"},
    ],
)
def test_no_secret_of_the_service_goes_into_the_sandbox(env: dict[str, str]) -> None:
    line = refusal({"command": ["a"], "env": env}, LLM_API_KEY="sk-live-0123456789")
    [name] = env
    assert line == (
        f"mcp.servers.fake.env.{name}: a secret of the service must not enter the "
        "sandbox; remove it, or use a server with a `url` and `headers`"
    )


def test_no_secret_of_the_service_stands_in_a_command() -> None:
    server = {"command": ["a", "--key=sk-live-0123456789"]}
    line = refusal(server, LLM_API_KEY="sk-live-0123456789")
    assert line.startswith("mcp.servers.fake.command: contains a secret of the service")
    assert "sk-live" not in line


def test_an_allow_list_without_hosts_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(
            {"PATCHWRIGHT_SANDBOX__NETWORK": "allowlist"}, flags={}, cwd=NOWHERE
        )
    assert str(caught.value).startswith(
        'sandbox.allow_domains: sandbox.network is "allowlist", so list the hosts'
    )


def test_a_server_is_allowed_by_its_full_name_alone() -> None:
    listed = '["*.example.com", "Tools.example:8443"]'
    environ = {"PATCHWRIGHT_SANDBOX__ALLOW_DOMAINS": listed}
    found = load_settings(environ, flags={}, cwd=NOWHERE)
    assert allowed_hosts(found) == {"tools.example"}


def test_an_allow_list_that_commands_could_ignore_is_refused() -> None:
    environ = {
        "PATCHWRIGHT_SANDBOX__NETWORK": "allow",
        "PATCHWRIGHT_SANDBOX__ALLOW_DOMAINS": '["tools.example"]',
    }
    with pytest.raises(SettingsError) as caught:
        load_settings(environ, flags={}, cwd=NOWHERE)
    assert str(caught.value).startswith(
        "sandbox.allow_domains: a list of domains has no effect if"
    )
