"""Settings come from four places, and what is wrong with them is told."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.settings.model import Settings, all_keys, dotted_key
from patchwright.core.settings.names import FORMER_NAMES, UNTIL, Place
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.people import Permission
from patchwright.core.types.work import Limits
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.settings import (
    ALL_SETTINGS,
    find_notices,
    load_settings,
)
from tests.fakes.github.bare import git

NOWHERE = Path("/nonexistent")


def settings(environ: Mapping[str, str], cwd: Path = NOWHERE) -> Settings:
    return load_settings(environ, flags={}, cwd=cwd)


def errors(environ: Mapping[str, str], cwd: Path = NOWHERE) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        settings(environ, cwd)
    return str(caught.value).splitlines()


def test_everything_has_a_default() -> None:
    defaults = settings({})
    assert defaults.limits.of_a_run() == Limits()
    assert defaults.security.min_permission is Permission.WRITE
    assert defaults.sandbox.network == "deny"
    assert defaults.queue.broker_url.get_secret_value() == "memory://"
    assert GitHubSettings.of(defaults).mention == "@patchwright"
    assert GitHubSettings.of(defaults).label == "patchwright"


def test_a_flag_beats_the_environment_and_that_the_file(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        "[limits]\nmax_cost_usd = 1\ntimeout_minutes = 1\nmax_iterations = 1\n"
    )
    environ = {
        "PATCHWRIGHT_LIMITS__MAX_COST_USD": "2",
        "PATCHWRIGHT_LIMITS__TIMEOUT_MINUTES": "2",
    }
    flags = {"limits.max_cost_usd": 3.5, "limits.timeout_minutes": None}
    limits = load_settings(environ, flags=flags, cwd=tmp_path).limits
    assert (limits.max_cost_usd, limits.timeout_minutes) == (3.5, 2)
    assert (limits.max_iterations, limits.max_tokens) == (1, 2_000_000)


def test_the_environment_names_another_file(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text("[server]\nport = 1\n")
    (tmp_path / "other.toml").write_text("[server]\nport = 2\n")
    environ = {"PATCHWRIGHT_CONFIG": "other.toml"}
    assert settings(environ, tmp_path).server.port == 2


def test_a_person_has_settings_of_their_own(tmp_path: Path) -> None:
    own, project = tmp_path / ".config" / "patchwright", tmp_path / "project"
    for folder in (own, project):
        folder.mkdir(parents=True)
    (own / "config.toml").write_text(
        '[llm]\nmodel = "a/own"\napi_key_file = "key"\n[server]\nport = 1\n'
    )
    (own / "key").write_text("key-of-mine\n")
    (project / "patchwright.toml").write_text('[llm]\nmodel = "a/project"\n')
    found = settings({"HOME": str(tmp_path)}, project)
    assert (found.llm.model, found.server.port) == ("a/project", 1)
    assert found.llm.api_key is not None
    assert found.llm.api_key.get_secret_value() == "key-of-mine"


def test_the_xdg_folder_is_where_own_settings_are(tmp_path: Path) -> None:
    own = tmp_path / "xdg" / "patchwright"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[server]\nport = 3\nprot = 4\n")
    environ = {"HOME": "/h", "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    [line] = errors(environ)
    assert line == (
        f"server.prot: unknown key, found in {own}/config.toml; the nearest known one "
        "is server.port (PATCHWRIGHT_SERVER__PORT)"
    )


def test_a_file_that_the_command_line_names_beats_the_others(tmp_path: Path) -> None:
    for number, name in enumerate(("patchwright.toml", "b.toml", "c.toml"), 1):
        (tmp_path / name).write_text(f"[server]\nport = {number}\n")
    environ = {"PATCHWRIGHT_CONFIG": "b.toml"}
    found = load_settings(environ, flags={}, cwd=tmp_path, config=Path("c.toml"))
    assert found.server.port == 3


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    [line] = errors({"PATCHWRIGHT_CONFIG": "no.toml"}, tmp_path)
    assert line == f"{tmp_path}/no.toml: cannot be read: No such file or directory"


def test_a_broken_file_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text("[server]\nport = = 2\n")
    [line] = errors({}, tmp_path)
    assert (
        line
        == f"{tmp_path}/patchwright.toml: not TOML: Invalid value (at line 2, column 8)"
    )


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/patchwright"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/patchwright"),
        ({"HOME": "/h", "PATCHWRIGHT_STATE_DIR": "/s"}, "/s"),
        ({"HOME": "/h", "PATCHWRIGHT_STATE_DIR": "s"}, "/nonexistent/s"),
        ({}, "/nonexistent/.patchwright"),
    ],
)
def test_state_has_its_folder(environ: dict[str, str], folder: str) -> None:
    found = settings(environ)
    assert found.state_dir == Path(folder)
    url = found.database.url.get_secret_value()
    assert url == f"sqlite:///{folder}/patchwright.db"


def test_common_names_work_and_ours_are_stronger() -> None:
    environ = {
        "LLM_MODEL": "openai/a",
        "LLM_API_KEY": "key-of-a",
        "LLM_BASE_URL": "http://127.0.0.1:1/v1",
        "LOG_JSON": "1",
        "PATCHWRIGHT_LLM__MODEL": "openai/b",
    }
    found = settings(environ)
    assert found.log_json is True
    assert found.llm.model == "openai/b"
    assert found.llm.base_url == "http://127.0.0.1:1/v1"
    assert found.llm.api_key is not None
    assert found.llm.api_key.get_secret_value() == "key-of-a"


def test_former_names_work_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[limits]\nmax_minutes = 5\n[jira]\nflavour = "datacenter"\n'
        '[mcp.servers.time]\ncommand = ["time"]\ntimeout_s = 9\n'
    )
    found = settings({"PATCHWRIGHT_QUEUE__LEASE_S": "9"}, tmp_path)
    assert found.limits.timeout_minutes == 5
    assert found.queue.lease_seconds == 9
    assert found.mcp.servers["time"].timeout_seconds == 9
    assert JiraSettings.of(found).type == "datacenter"
    file = f"{tmp_path}/patchwright.toml"
    assert [str(one) for one in found.notices] == [
        (
            "limits.max_minutes is now limits.timeout_minutes "
            f"(PATCHWRIGHT_LIMITS__TIMEOUT_MINUTES), found in {file}; rename it; "
            f"{UNTIL}"
        ),
        (
            "jira.flavour is now jira.type "
            f"(PATCHWRIGHT_JIRA__TYPE), found in {file}; rename it; {UNTIL}"
        ),
        (
            "queue.lease_s is now queue.lease_seconds "
            "(PATCHWRIGHT_QUEUE__LEASE_SECONDS), found in environment variable "
            f"PATCHWRIGHT_QUEUE__LEASE_S; rename it; {UNTIL}"
        ),
        (
            "mcp.servers.time.timeout_s is now mcp.servers.time.timeout_seconds; "
            f"rename it; {UNTIL}"
        ),
    ]


def test_a_former_name_in_a_weaker_place_gives_way(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text("[limits]\nmax_minutes = 5\n")
    environ = {"PATCHWRIGHT_LIMITS__TIMEOUT_MINUTES": "6"}
    assert settings(environ, tmp_path).limits.timeout_minutes == 6


def test_both_names_in_one_place_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        "[limits]\nmax_minutes = 5\ntimeout_minutes = 6\n"
    )
    [line] = errors({}, tmp_path)
    file = f"{tmp_path}/patchwright.toml"
    assert line == (
        f"limits.timeout_minutes: set twice, in {file} as limits.max_minutes and "
        f"{file}; keep one of them"
    )


def test_every_former_name_leads_to_a_setting() -> None:
    known = {dotted_key(key.path) for key in all_keys(ALL_SETTINGS)}
    names = {one for one in FORMER_NAMES[Place.SETTINGS].values() if "NAME" not in one}
    assert names <= known
    assert FORMER_NAMES[Place.SETTINGS].keys() & known == set()


def test_it_is_known_which_files_have_secrets(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[llm]\napi_key = "sk-secret"\n[github]\ntoken_file = "token"\n'
        '[database]\nurl = "sqlite:///x.db"\n[queue]\nbroker_url = "memory://"\n'
    )
    (tmp_path / "token").write_text("ghp_secret\n")
    found = settings({"PATCHWRIGHT_SLACK__APP_TOKEN": "xapp-secret"}, tmp_path)
    assert [(one.key, one.file.name) for one in found.secrets_in_files] == [
        ("llm.api_key", "patchwright.toml"),
        ("github.token", "token"),
    ]


def test_a_secret_that_git_tracks_is_told(tmp_path: Path) -> None:
    file = tmp_path / "patchwright.toml"
    file.write_text('[llm]\napi_key = "sk-secret"\n')
    git(tmp_path, "init", "--quiet")
    assert find_notices(settings({}, tmp_path)) == ()
    git(tmp_path, "add", file.name)
    [notice] = find_notices(settings({}, tmp_path))
    assert str(notice) == (
        f"llm.api_key: the secret is in {file}, which git tracks; move it to "
        "~/.config/patchwright/config.toml or to an environment variable, and replace "
        "it where you got it: the history of the repository keeps it"
    )


def test_an_empty_variable_is_not_set() -> None:
    found = settings({"LOG_JSON": "", "PATCHWRIGHT_GITHUB__TOKEN": ""})
    assert GitHubSettings.of(found).token is None


def test_lists_and_tables_are_json_in_the_environment() -> None:
    environ = {
        "PATCHWRIGHT_SECURITY__ALLOW_BOTS": '["dependabot", "renovate[bot]"]',
        "PATCHWRIGHT_LIMITS": '{"max_cost_usd": 1, "timeout_minutes": 2}',
        "PATCHWRIGHT_LLM__FAST": '{"model": "openai/fast"}',
    }
    found = settings(environ)
    assert found.security.allow_bots == ("dependabot", "renovate[bot]")
    assert (found.limits.max_cost_usd, found.limits.timeout_minutes) == (1, 2)
    assert found.llm.named["fast"].model == "openai/fast"


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        settings({}).limits.max_cost_usd = 100  # type: ignore[misc] # that is the test


def test_named_models_are_put_together_from_all_places(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[llm]\nmodel = "a/main"\napi_key = "main-key"\n'
        '[llm.fast]\nmodel = "a/fast"\n'
        '[llm.own]\nmodel = "b/own"\nbase_url = "http://127.0.0.1:1"\n'
    )
    environ = {"PATCHWRIGHT_LLM__FAST__CONTEXT_WINDOW": "1000"}
    llm = settings(environ, tmp_path).llm
    fast, own = llm.find("fast"), llm.find("own")
    assert llm.find("") is llm
    assert llm.find("none") is None
    assert fast is not None
    assert (fast.model, fast.context_window) == ("a/fast", 1000)
    assert fast.api_key == llm.api_key
    assert own is not None
    assert own.api_key is None


@pytest.mark.parametrize(
    ("name", "key", "nearest"),
    [
        ("PATCHWRIGHT_LIMITS__MAX_COST", "limits.max_cost", "limits.max_cost_usd"),
        ("PATCHWRIGHT_LLM_MODEL", "llm_model", "llm.model"),
        ("PATCHWRIGHT_LLM__FAST__MODLE", "llm.fast.modle", "llm.fast.model"),
        ("PATCHWRIGHT_LLM__MODLE", "llm.modle", "llm.model"),
        ("PATCHWRIGHT_GITLAP__LABEL", "gitlap.label", "gitlab.label"),
        ("PATCHWRIGHT_LOGJSON", "logjson", "log_json"),
        ("PATCHWRIGHT_GITHUB__LABEL_FILE", "github.label_file", "github.label"),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_the_nearest_key(
    name: str, key: str, nearest: str
) -> None:
    variable = "PATCHWRIGHT_" + nearest.replace(".", "__").upper()
    [line] = errors({name: "x"})
    assert line == (
        f"{key}: unknown key, found in environment variable {name}; "
        f"the nearest known one is {nearest} ({variable})"
    )


def test_an_unknown_key_in_the_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text("[limits]\nmax_minute = 3\n")
    [line] = errors({}, tmp_path)
    assert line.startswith(
        f"limits.max_minute: unknown key, found in {tmp_path}/patchwright.toml; "
        "the nearest known one is limits.timeout_minutes"
    )


def test_an_unknown_flag_is_an_error() -> None:
    with pytest.raises(SettingsError, match="found in the command line"):
        load_settings({}, flags={"limits.cost": 1}, cwd=NOWHERE)


@pytest.mark.parametrize(
    "name",
    [
        "PATCHWRIGHT_CORPUS",
        "PATCHWRIGHT_SERVICE_HOST",
        "PATCHWRIGHT_SERVICE_PORT_HTTP",
        "PATCHWRIGHT_PORT",
        "PATCHWRIGHT_PORT_80_TCP_ADDR",
        "PATCHWRIGHT_WEB_SERVICE_HOST",
        "OTHER__NAME",
    ],
)
def test_what_others_put_into_the_environment_is_left_alone(name: str) -> None:
    assert settings({name: "tcp://10.0.0.1:80"}) == settings({})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "LIMITS__MAX_COST_USD",
            "much",
            "limits.max_cost_usd: Input should be a valid",
        ),
        (
            "LIMITS__MAX_COST_USD",
            "nan",
            "limits.max_cost_usd: Input should be a finite",
        ),
        ("LIMITS__MAX_COST_USD", "-1", "limits.max_cost_usd: Input should be greater"),
        (
            "LIMITS__UNKNOWN_PRICE",
            "free",
            "limits.unknown_price: Input should be 'cap-t",
        ),
        (
            "SECURITY__MIN_PERMISSION",
            "none",
            "security.min_permission: `none` would let",
        ),
        ("SECURITY__ALLOW_BOTS", "a,b", "security.allow_bots: not JSON, found in"),
        (
            "SANDBOX__NETWORK",
            "list",
            "sandbox.network: Input should be 'deny', 'allowlist' or 'allow'",
        ),
        (
            "SANDBOX__ALLOW_DOMAINS",
            '["https://a.example"]',
            "sandbox.allow_domains: 'https://a.example': write only the host",
        ),
        ("SANDBOX__MEMORY", "lots", "sandbox.memory: String should match pattern"),
        ("GITHUB__API_URL", "ghe.corp.example", "github.api_url: expected an address"),
        (
            "GITHUB__MENTION",
            "patchwright",
            "github.mention: expected a name with an @",
        ),
        (
            "LLM__FAST__CONTEXT_WINDOW",
            "big",
            "llm.fast.context_window: Input should be",
        ),
        ("SERVER", "[]", "server: not a table, found in"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(
    name: str, value: str, message: str
) -> None:
    [line] = errors({f"PATCHWRIGHT_{name}": value})
    assert line.startswith(message)
    assert f"environment variable PATCHWRIGHT_{name}" in line


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text("[server]\nport = 99999\nprot = 1\n")
    environ = {"PATCHWRIGHT_LIMITS__MAX_TOKENS": "0", "PATCHWRIGHT_X": "1"}
    lines = errors(environ, tmp_path)
    assert [line.split(":")[0] for line in lines] == [
        "server.prot",
        "x",
        "server.port",
        "limits.max_tokens",
    ]


NAMES = st.from_regex(r"PATCHWRIGHT_[A-Z_]{0,20}", fullmatch=True)


@given(st.dictionaries(NAMES, st.text(max_size=8), max_size=4))
def test_any_environment_gives_settings_or_one_kind_of_error(
    environ: dict[str, str],
) -> None:
    environ.pop("PATCHWRIGHT_CONFIG", None)
    with suppress(SettingsError):
        assert settings(environ).limits.max_cost_usd >= 0
