"""The checks that ask nobody outside this machine."""

import base64
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from patchwright.core.doctor import CheckContext, CheckStatus
from patchwright.core.system.clock import SystemClock
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.doctor.service import judge_processes
from patchwright.workers.doctor.storage import file_system_type, judge_space
from patchwright.workers.ops.health import ProcessStatus
from patchwright.workers.store.secrets import KEY_FILE, SecretStore, key_ring
from tests.adapters.doctor.cases import case_of, examined
from tests.provision.servers import free_port

OLD = "k1:" + base64.b64encode(b"o" * 32).decode()
NEW = "k2:" + base64.b64encode(b"n" * 32).decode()
NOW = datetime(2026, 5, 1, tzinfo=UTC)
MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
90 22 0:50 / /srv/with\\040blank rw - nfs4 files:/srv rw,vers=4.2
91 90 0:51 / /srv/with\\040blank/local rw - xfs /dev/sdb1 rw
"""


def migrated(case: CheckContext) -> Database:
    case.settings.state_dir.mkdir()
    database = Database(case.settings.database.url.get_secret_value())
    upgrade(database)
    return database


def test_complete_settings_are_ok_and_what_is_missing_is_told_with_its_variable(
    tmp_path: Path,
) -> None:
    fine = case_of(tmp_path, LLM__MODEL="openai/scripted")
    assert examined("settings", fine).status is CheckStatus.OK
    bad = examined("settings", case_of(tmp_path, GITHUB__APP_ID="1"))
    assert bad.found == "`serve` cannot start: 3 errors"
    assert "set PATCHWRIGHT_GITHUB__WEBHOOK_SECRET" in bad.fix
    assert "set PATCHWRIGHT_GITHUB__PRIVATE_KEY" in bad.fix
    assert "set LLM_MODEL, for example to" in bad.fix


def test_processes_that_share_a_database_need_a_key(tmp_path: Path) -> None:
    case = case_of(
        tmp_path, LLM__MODEL="openai/x", DATABASE__URL="postgresql://127.0.0.1/p"
    )
    assert "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS" in examined("settings", case).fix


@pytest.mark.parametrize(
    ("key", "value", "found", "fix"),
    [
        ("SERVER__PUBLIC_URL", "http://bot.example", "is not https", "use TLS"),
        ("SECURITY__ADMIN_TOKEN", "abc", "3 characters", "openssl rand"),
        ("SECURITY__MIN_PERMISSION", "read", "strangers", "to write"),
        ("SANDBOX__KIND", "unconfined", "as this user", "docker or local"),
        ("SANDBOX__NETWORK", "allow", "can leave", 'to "deny"'),
    ],
)
def test_what_works_and_is_not_prudent_is_a_warning(
    tmp_path: Path, key: str, value: str, found: str, fix: str
) -> None:
    case = case_of(tmp_path, LLM__MODEL="openai/scripted", **{key: value})
    told = examined("settings", case)
    assert told.status is CheckStatus.WARNING
    assert found in told.found
    assert fix in told.fix


def test_an_address_on_this_machine_needs_no_tls(tmp_path: Path) -> None:
    url = "http://localhost:8080"
    case = case_of(tmp_path, LLM__MODEL="openai/x", SERVER__PUBLIC_URL=url)
    assert examined("settings", case).status is CheckStatus.OK


def test_the_state_folder_is_looked_at_and_not_made(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    assert "will be created" in examined("state", case).found
    assert not case.settings.state_dir.exists()
    case.settings.state_dir.mkdir()
    assert "can be written" in examined("state", case).found
    assert list(case.settings.state_dir.iterdir()) == []


def test_a_key_that_others_can_read_is_told_with_the_command(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    case.settings.state_dir.mkdir()
    key = case.settings.state_dir / KEY_FILE
    key.write_bytes(bytes(32))
    key.chmod(0o644)
    told = examined("state", case)
    assert (told.status, told.fix) == (CheckStatus.FAILED, f"chmod 600 {key}")


def test_a_file_in_place_of_the_state_folder_cannot_be_written(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    case.settings.state_dir.write_text("")
    assert examined("state", case).status is CheckStatus.FAILED


@pytest.mark.parametrize(
    ("gib", "status"),
    [(50.0, CheckStatus.OK), (1.0, CheckStatus.WARNING), (0.1, CheckStatus.FAILED)],
)
def test_little_room_is_a_warning_and_none_a_failure(
    gib: float, status: CheckStatus
) -> None:
    assert judge_space(int(gib * 2**30), Path("/srv")).status is status


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    assert "will create" in examined("database", case).found
    assert not case.settings.state_dir.exists()


def test_pending_migrations_are_counted_and_stay_pending(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    case.settings.state_dir.mkdir()
    with closing(Database(case.settings.database.url.get_secret_value())) as database:
        upgrade(database, "0001")
    for _ in range(2):
        told = examined("database", case)
        assert told.status is CheckStatus.WARNING
        assert "pending, starting with 0002" in told.found
        assert told.fix.startswith("patchwright db upgrade")
    assert examined("secrets", case).status is CheckStatus.SKIPPED
    assert examined("processes", case).status is CheckStatus.SKIPPED


def test_a_database_of_a_later_version_is_told_from_one_that_is_behind(
    tmp_path: Path,
) -> None:
    case = case_of(tmp_path)
    with closing(migrated(case)) as database:
        assert examined("database", case).status is CheckStatus.OK
        with database.writing() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    told = examined("database", case)
    assert told.status is CheckStatus.WARNING
    assert told.found == "it belongs to a later version: its schema is 9999"
    assert "start the newer version that migrated it" in told.fix


def test_a_file_that_is_no_database_and_a_server_that_is_away_are_told(
    tmp_path: Path,
) -> None:
    case = case_of(tmp_path)
    case.settings.state_dir.mkdir()
    (case.settings.state_dir / "patchwright.db").write_text("no database " * 100)
    assert "file is not a database" in examined("database", case).found
    url = f"postgresql://bot:s3cret@127.0.0.1:{free_port()}/p"
    away = examined("database", case_of(tmp_path, DATABASE__URL=url))
    assert away.found.startswith("does not answer: ")
    assert "check host, name and password in database.url" in away.fix


def test_the_mount_that_holds_a_path_is_the_innermost() -> None:
    assert file_system_type(PurePosixPath("/srv/with blank/p.db"), MOUNTS) == "nfs4"
    assert (
        file_system_type(PurePosixPath("/srv/with blank/local/p.db"), MOUNTS) == "xfs"
    )
    assert file_system_type(PurePosixPath("/srv/without"), MOUNTS) == "ext4"
    assert file_system_type(PurePosixPath("/srv"), "") == ""


def test_a_key_that_stored_secrets_need_is_missed_by_its_id(tmp_path: Path) -> None:
    before = case_of(tmp_path, SECURITY__ENCRYPTION_KEYS=OLD)
    with closing(migrated(before)) as database:
        keys = key_ring(before.settings, database)
        store = SecretStore(database, keys, SystemClock())
        store.put("github-app", SecretStr("pem"))
        store.put("T1", SecretStr("xoxb"), owner="slack")
    assert examined("secrets", before).found == "2 secrets, all can be decrypted"
    lost = examined("secrets", case_of(tmp_path, SECURITY__ENCRYPTION_KEYS=NEW))
    assert lost.status is CheckStatus.FAILED
    assert lost.found == "2 of 2 secrets cannot be decrypted with the key k1"
    both = case_of(tmp_path, SECURITY__ENCRYPTION_KEYS=f"{NEW},{OLD}")
    turning = examined("secrets", both)
    assert turning.found == "2 secrets still encrypted with an old key (k1)"
    assert turning.fix.startswith("run patchwright keys rotate")


def test_without_any_key_none_is_made(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    migrated(case).close()
    assert examined("secrets", case).status is CheckStatus.SKIPPED
    assert not (case.settings.state_dir / KEY_FILE).exists()


def test_the_broker_in_memory_is_named_and_a_real_one_is_tried(
    tmp_path: Path, redis_url: str
) -> None:
    assert "in memory" in examined("broker", case_of(tmp_path)).found
    tried = examined("broker", case_of(tmp_path, QUEUE__BROKER_URL=redis_url))
    assert tried.status is CheckStatus.OK
    assert "redis at 127.0.0.1, there and back" in tried.found


def test_a_broker_that_is_away_is_told_without_its_password(tmp_path: Path) -> None:
    url = f"redis://:s3cret@127.0.0.1:{free_port()}/0"
    told = examined("broker", case_of(tmp_path, QUEUE__BROKER_URL=url))
    assert told.status is CheckStatus.FAILED
    assert "queue.broker_url" in told.fix
    assert "s3cret" not in repr(told)


def test_no_process_or_a_missing_role_is_a_warning(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    migrated(case).close()
    assert examined("processes", case).found == "no process of the service is alive"
    web, worker = alive("web"), alive("worker")
    told = judge_processes((web, worker, worker), "1.0")
    assert told.found == "no scheduler is running"
    assert told.fix == "patchwright serve --role scheduler"
    assert judge_processes((alive("all"),), "1.0").found == "1 all"


def test_what_does_not_work_and_another_version_are_told() -> None:
    sick = alive("all").replace(red=("queue",), version="0.9")
    told = judge_processes((sick,), "1.0")
    assert told.found == (
        "all host:1: queue not working; 0.9 is running, and this is 1.0"
    )


def alive(role: str) -> ProcessStatus:
    return ProcessStatus(
        id=role,
        role=role,
        name="host:1",
        version="1.0",
        started_at=NOW,
        seen_at=NOW,
        until=NOW + timedelta(minutes=1),
    )
