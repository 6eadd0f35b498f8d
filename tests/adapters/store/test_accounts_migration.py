"""The migration to roles keeps people, and knows who of them was here."""

from contextlib import closing

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade

AT = "2026-01-02 03:04:05"


def test_people_who_linked_have_signed_in_and_all_are_members(
    empty_database_url: str,
) -> None:
    with closing(Database(empty_database_url)) as database:
        upgrade(database, "0015")
        with database.writing() as connection:
            for name in ("linked", "seen"):
                connection.exec_driver_sql(
                    "INSERT INTO accounts (id, name, created_at) "
                    f"VALUES ('{name}', '{name}', '{AT}')"
                )
            for account, service in (
                ("linked", "github"),
                ("linked", "slack"),
                ("seen", "github"),
            ):
                connection.exec_driver_sql(
                    "INSERT INTO identities (id, account_id, service, host, subject, "
                    f"login) VALUES ('{account}-{service}', '{account}', '{service}', "
                    f"'', '{account}', '{account}')"
                )
            connection.exec_driver_sql(
                "INSERT INTO account_audit (id, at, account_id, what, identity, by) "
                f"VALUES ('a', '{AT}', 'linked', 'linked', 'slack::linked', 'x')"
            )
        upgrade(database)
        with database.reading() as connection:
            people = connection.exec_driver_sql(
                "SELECT name, role, role_from, signed_in_at IS NOT NULL FROM accounts "
                "ORDER BY name"
            ).all()
            audit = connection.exec_driver_sql("SELECT what, detail FROM account_audit")
            kept = [tuple(row) for row in audit]
    assert [tuple(row) for row in people] == [
        ("linked", "member", "", True),
        ("seen", "member", "", False),
    ]
    assert kept == [("linked", "")]
