"""Looking after what the service keeps: `patchwright db` and `patchwright keys`."""

import base64
import subprocess
from contextlib import closing
from pathlib import Path

from pydantic import SecretStr

from patchwright.core.settings.names import UNTIL
from patchwright.core.system.clock import SystemClock
from patchwright.core.system.crypto import KeyRing
from patchwright.workers.db.database import Database
from patchwright.workers.store.secrets import SecretStore
from tests.adapters.cli.terminal import PATIENCE_S
from tests.adapters.git.workshop import IDENTITY
from tests.fakes.github.bare import git
from tests.provision.servers import free_port
from tests.provision.starter import ready_starter

OLD, NEW = b"o" * 32, b"n" * 32


def ask(
    state: Path, *words: str, keys: str = "", database: str = ""
) -> subprocess.CompletedProcess[str]:
    settings = {"PATH": IDENTITY["PATH"], "PATCHWRIGHT_STATE_DIR": str(state)}
    if database:
        settings["PATCHWRIGHT_DATABASE__URL"] = database
    if keys:
        settings["PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS"] = keys
    return ready_starter().run(*words, cwd=state, env=settings, timeout=PATIENCE_S)


def written(name: str, key: bytes) -> str:
    return f"{name}:{base64.b64encode(key).decode()}"


def open_secrets(database: Database, keys: dict[str, bytes]) -> SecretStore:
    return SecretStore(database, KeyRing(keys, next(iter(keys))), SystemClock())


def test_a_new_database_is_made_and_an_old_one_left_as_it_is(tmp_path: Path) -> None:
    for _ in range(2):
        ended = ask(tmp_path, "db", "upgrade")
        assert (ended.returncode, ended.stdout) == (0, "The database is up to date.\n")
    assert (tmp_path / "patchwright.db").stat().st_size > 0


def test_a_database_that_is_away_is_told_in_words_with_what_to_do(
    tmp_path: Path,
) -> None:
    away = f"postgresql://bot:s3cret@127.0.0.1:{free_port()}/p"
    for words in (("db", "upgrade"), ("keys", "rotate")):
        ended = ask(tmp_path, *words, keys=written("new", NEW), database=away)
        assert ended.returncode == 3
        assert ended.stderr.startswith("error: the database cannot be used: ")
        assert "patchwright doctor --only database" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
        assert "s3cret" not in ended.stderr


def test_a_tracked_secret_and_a_former_name_are_told(tmp_path: Path) -> None:
    file = tmp_path / "patchwright.toml"
    file.write_text('[llm]\napi_key = "sk-secret"\n[limits]\nmax_minutes = 4\n')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", file.name)
    renamed = (
        "limits.max_minutes is now limits.timeout_minutes "
        f"(PATCHWRIGHT_LIMITS__TIMEOUT_MINUTES), found in {file}"
    )
    exposed = f"llm.api_key: the secret is in {file}, which git tracks"
    hide = (
        "move it to ~/.config/patchwright/config.toml or to an environment variable, "
        "and replace it where you got it: the history of the repository keeps it"
    )
    ended = ask(tmp_path, "db", "upgrade")
    assert (ended.returncode, ended.stdout) == (0, "The database is up to date.\n")
    assert ended.stderr == (
        f"warning: {renamed}; rename it; {UNTIL}\nwarning: {exposed}; {hide}\n"
    )
    examined = ask(tmp_path, "doctor", "--only", "database")
    assert examined.returncode != 0
    lines = [" ".join(one.split()) for one in examined.stdout.splitlines()]
    assert lines[:4] == [
        f"failed secrets {exposed}",
        f"> {hide}",
        f"warning settings {renamed}",
        f"> rename it; {UNTIL}",
    ]


def test_after_a_rotation_the_old_key_is_needed_no_more(tmp_path: Path) -> None:
    ask(tmp_path, "db", "upgrade")
    with closing(Database(f"sqlite:///{tmp_path / 'patchwright.db'}")) as database:
        open_secrets(database, {"old": OLD}).put("token", SecretStr("hush"))
        both = f"{written('new', NEW)},{written('old', OLD)}"
        ended = ask(tmp_path, "keys", "rotate", keys=both)
        assert ended.stdout == "1 secret moved to the key new.\n"
        kept = open_secrets(database, {"new": NEW}).fetch("token")
    assert kept == SecretStr("hush")


def test_a_key_that_is_missing_for_the_rotation_is_named(tmp_path: Path) -> None:
    ask(tmp_path, "db", "upgrade")
    with closing(Database(f"sqlite:///{tmp_path / 'patchwright.db'}")) as database:
        open_secrets(database, {"old": OLD}).put("token", SecretStr("hush"))
    ended = ask(tmp_path, "keys", "rotate", keys=written("new", NEW))
    assert ended.returncode == 3
    assert "old" in ended.stderr
