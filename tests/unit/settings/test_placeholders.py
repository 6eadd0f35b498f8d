"""What stands for a value in a sample is not taken for one."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchwright.core.settings.model import (
    KeyPath,
    ValueForm,
    all_keys,
    find_key,
)
from patchwright.core.settings.placeholders import is_placeholder
from patchwright.core.settings.sources import ALIASES
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.settings import ALL_SETTINGS, load_settings
from tests.architecture.tree import ROOT

PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ASSIGNMENT = re.compile(r"\b((?:PATCHWRIGHT_|LLM_)[A-Z_]+)=(\S+)")
VARIABLES = {
    **{
        f"PATCHWRIGHT_{'__'.join(key.path).upper()}": key.path
        for key in all_keys(ALL_SETTINGS)
    },
    **{name: path for name, path in ALIASES.items() if not name.endswith("_FILE")},
}


@pytest.mark.parametrize(
    "text",
    [
        "…",
        "...",
        "changeme",
        "change-me",
        "CHANGE_ME",
        "<your key>",
        "<...>",
        "your-key-here",
        "YOUR_API_KEY",
        "api-key-here",
        "xxx",
        "XXXXXXXX",
        "sk-xxxx",
        "sk-…",
        "sk-ant-…",
        "sk-ant-...",
        "sk-ant-api03-xxxxxxxx",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
        "xoxb-...",
        "xapp-your-token",
        "****",
        "$LLM_API_KEY",
        "${LLM_API_KEY}",
        "{{ secrets.KEY }}",
        "placeholder",
        "replace-me",
        "insert-key",
        "https://patchwright.example.com",
        "https://bot.example.com/x",
        "https://HOST/api/v3",
        "https://YOUR-HOST",
        "https://YOUR-TUNNEL.trycloudflare.com",
        "https://<your-host>",
        "https://…",
        "Bearer ...",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_placeholder_is_one(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sk-ant-api03-Zm9vYmFy_xxQ",
        "sk-test",
        "ghp_0123456789abcdefghij",
        "xoxb-1",
        "a<b>c$d{e}",
        "no-key",
        "../state",
        "/srv/x.../y",
        "https://bot.example",
        "https://bot.acme.com",
        "http://127.0.0.1:8080",
        "http://localhost:11434/v1",
        "anthropic/claude-sonnet-4-5",
        "change-management-bot",
        "go test ./...",
        "postgresql+psycopg://bot:s3cret@db/patchwright",
    ],
)
def test_a_value_is_none(text: str) -> None:
    assert not is_placeholder(text)


def load(folder: Path, **environ: str) -> None:
    load_settings({"HOME": str(folder), **environ}, flags={}, cwd=folder)


def test_a_placeholder_is_refused_with_its_place_and_without_its_value(
    tmp_path: Path,
) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[server]\npublic_url = "…"\n[github]\nwebhook_secret = ["good", "changeme"]\n'
    )
    (tmp_path / "key").write_text("<your key>\n")
    with pytest.raises(SettingsError) as caught:
        load(
            tmp_path,
            LLM_API_KEY_FILE=str(tmp_path / "key"),
            PATCHWRIGHT_GITHUB__TOKEN="ghp_xxxxxxxx",
        )
    file = tmp_path / "patchwright.toml"
    own = "replace it with your own value, or remove it"
    assert str(caught.value) == (
        f"server.public_url: still a placeholder, found in {file}; {own}; public_url "
        "means: Public address of this service, for links; empty: no links to it.\n"
        f"github.webhook_secret: still a placeholder, found in {file}; {own}; "
        "webhook_secret means: Secret that signs webhooks; while you change it, set "
        "both, separated by a comma.\n"
        "llm.api_key: still a placeholder, found in the file named in environment "
        f"variable LLM_API_KEY_FILE; {own}; api_key means: API key of the provider.\n"
        "github.token: still a placeholder, found in environment variable "
        f"PATCHWRIGHT_GITHUB__TOKEN; {own}; token means: Personal access token, "
        "instead of an App."
    )
    assert "xxxx" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("PATCHWRIGHT_LIMITS__MAX_COST_USD", "0", "Input should be greater than 0"),
        ("PATCHWRIGHT_LIMITS__MAX_COST_USD", "-1", "Input should be greater than 0"),
        ("PATCHWRIGHT_LIMITS__MAX_COST_USD", "nan", "Input should be a finite number"),
        ("PATCHWRIGHT_LIMITS__MAX_COST_USD", "inf", "Input should be a finite number"),
        ("LLM_MODEL", "claude sonnet", "expected PROVIDER/MODEL without spaces"),
        (
            "PATCHWRIGHT_SERVER__PUBLIC_URL",
            "bot.acme.com",
            "expected an address such as https://HOST",
        ),
        (
            "PATCHWRIGHT_SERVER__PUBLIC_URL",
            "ftp://bot.acme.com",
            "expected an address such as https://HOST",
        ),
        (
            "PATCHWRIGHT_SERVER__PUBLIC_URL",
            "https://bot.acme.com:99999",
            "expected an address such as https://HOST",
        ),
        (
            "PATCHWRIGHT_SERVER__PUBLIC_URL",
            "https://bot.acme.com/?a=b",
            "expected an address without `?` and `#`",
        ),
        (
            "PATCHWRIGHT_SERVER__PUBLIC_URL",
            "https://me:pw@bot.acme.com",
            "expected an address without a user's name or a password",
        ),
        ("LLM_BASE_URL", "127.0.0.1:8000", "expected an address such as"),
    ],
)
def test_an_impossible_value_is_refused_with_its_place(
    variable: str, value: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, **{variable: value})
    told = str(caught.value)
    assert said in told
    assert f", found in environment variable {variable}; " in told


def samples() -> Iterator[tuple[str, KeyPath, str]]:
    """Yield page, key and value of each secret and public address in a sample."""
    for page in PAGES:
        for language, text in FENCE.findall(page.read_text()):
            for path, value in _assigned(language, text):
                key = find_key(ALL_SETTINGS, path)
                if key and (key.form is ValueForm.SECRET or path[-1] == "public_url"):
                    yield str(page.relative_to(ROOT)), path, value


def _assigned(language: str, text: str) -> Iterator[tuple[KeyPath, str]]:
    for variable, value in ASSIGNMENT.findall(text):
        # What a command prints is a real one.
        if variable in VARIABLES and "$(" not in value:
            yield VARIABLES[variable], value
    if language != "toml":
        return
    for section, table in tomllib.loads(text).items():
        for name, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str):
                yield (section, name), value


# Addresses of the reader's own machine, as they are.
REAL = {("queue", "broker_url"), ("database", "url")}


def test_every_secret_in_a_sample_of_the_pages_is_refused_if_pasted() -> None:
    found = [
        one
        for one in samples()
        if one[1] not in REAL and not one[2].startswith("http://127.0.0.1")
    ]
    assert len({page for page, _, _ in found}) > 5
    taken = [one for one in found if not is_placeholder(one[2])]
    assert taken == []
