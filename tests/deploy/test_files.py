"""What deploy/ promises without a container: settings, migrations, the context."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from patchwright.core.settings.model import ValueForm, all_keys, variable_name
from patchwright.integrations.settings import ALL_SETTINGS
from tests.architecture.tree import ROOT

DEPLOY = ROOT / "deploy"
MIGRATIONS = sorted((ROOT / "patchwright/workers/db/migrations/versions").glob("*.py"))
# What a version that still runs beside the new one would stumble over.
NARROWING = {
    "alter_column",
    "drop_column",
    "drop_constraint",
    "drop_table",
    "rename_table",
    "execute",
}
# Statements of a migration that no running version stumbles over, and why.
HARMLESS = {
    "0012_no_bodies": {"execute": "nobody reads a body that is stored"},
    "0016_accounts": {"execute": "fills a column that an older version does not know"},
    "0017_run_rows": {"execute": "reads what is to be listed"},
}
# Those have no secret of their own here: compose.yaml tells the address of the broker,
# and who has MCP servers writes a file for them.
NOT_IN_FILES = {"queue.broker_url", "mcp.servers"}


def test_every_secret_of_the_settings_is_a_file_of_the_stack() -> None:
    secrets = {
        f"{variable_name(key.path)}_FILE"
        for key in all_keys(ALL_SETTINGS)
        if key.form is ValueForm.SECRET and ".".join(key.path) not in NOT_IN_FILES
    }
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(compose["x-secret-files"]) == secrets
    files = {path.rpartition("/")[2] for path in compose["x-secret-files"].values()}
    assert set(compose["x-service"]["secrets"]) == files
    assert set(compose["secrets"]) == {*files, "database_password"}
    prepared = (DEPLOY / "prepare").read_text()
    assert [name for name in compose["secrets"] if name not in prepared] == []


def test_every_setting_that_the_stack_names_is_known() -> None:
    known = {variable_name(key.path) for key in all_keys(ALL_SETTINGS)}
    known |= {f"{name}_FILE" for name in known}
    texts = [(DEPLOY / name).read_text() for name in ("compose.yaml", ".env.example")]
    named = set(re.findall(r"\bPATCHWRIGHT_[A-Z0-9_]+", "\n".join(texts)))
    assert named - known == set()


@pytest.mark.parametrize("file", MIGRATIONS[1:], ids=lambda file: file.stem)
def test_migrations_only_add_so_that_two_versions_can_run_at_once(file: Path) -> None:
    upgrade = ast.parse(file.read_text())
    called = {
        node.func.attr
        for node in ast.walk(upgrade)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert called & NARROWING == set(HARMLESS.get(file.stem, {}))


@pytest.mark.parametrize("file", MIGRATIONS[1:], ids=lambda file: file.stem)
def test_a_new_column_needs_no_word_from_an_older_version(file: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if _adds(node)]
    columns = [call.args[1] for call in calls if isinstance(call, ast.Call)]
    assert [ast.unparse(one) for one in columns if _is_demanding(one)] == []


def test_the_builder_is_sent_no_secrets() -> None:
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert sent[1] == "*"
    assert {"deploy/.env", "deploy/secrets"} <= set(sent)


def test_bodies_of_a_hundred_strangers_fit_into_the_proxy() -> None:
    proxy = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["proxy"]
    default = proxy["environment"]["REQUEST_BUFFERING"]
    kept = re.fullmatch(r"\$\{REQUEST_BUFFERING:-(request_buffers (\d+)MB)\}", default)
    assert kept is not None
    assert f"{{$REQUEST_BUFFERING:{kept[1]}}}" in (DEPLOY / "Caddyfile").read_text()
    assert 2 * 100 * int(kept[2]) <= int(proxy["mem_limit"].removesuffix("m"))


def _adds(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add_column"
    )


def _is_demanding(column: ast.expr) -> bool:
    """Tell whether a row without the column would be refused."""
    text = ast.unparse(column)
    return "nullable=False" in text and "server_default" not in text
