"""The page of what was spent: who sees what, and what is told of the limits."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.types.base import AccountId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.workers.db.database import Database
from patchwright.workers.runs.spend import SpendRow, SpendTotal
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.reservations import BudgetScope, CeilingUse
from patchwright.workers.web.site.spend_page import as_csv, plot_days
from tests.adapters.web.admin_scene import (
    ADMIN,
    MEMBER,
    STRANGER,
    VIEWER,
    Scene,
    administering,
    shown_text,
)
from tests.fakes.clock import START
from tests.schema import add_sqlite_file

TODAY = START.date()
SECRET_REPO = RepoRef(forge="github", full_name="acme/secret")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    with (
        closing(Database(f"sqlite:///{file}")) as database,
        administering(database, tmp_path) as scene,
    ):
        yield scene


def test_an_admin_reads_what_was_spent_and_what_is_left(scene: Scene) -> None:
    accounts = AccountStore(scene.world.database, _Ids(), scene.world.clock)
    bob = accounts.account_of(Actor(service="github", login="<bob>"), "github.com")
    spender = scene.spend(9.0, by=bob, day=TODAY)
    scene.spend(3.0, repo=SECRET_REPO, day=TODAY - timedelta(days=3))
    for usd in (5.0, 8.5):
        use = CeilingUse(scope=BudgetScope.USER_DAY, ceiling_usd=10.0, taken_usd=usd)
        scene.alerts.note(spender, use)
    page = scene.get("/spend?days=7")
    assert page.status_code == 200
    assert "<bob>" not in page.text
    assert "style=" not in page.text
    lines = shown_text(page)
    assert lines[:14] == [
        "Spend",
        "7 days 30 days 90 days",
        "Download CSV",
        "Warnings of today",
        "<bob>: 80 % reached at 12:00 UTC ($8.50 of $10.00).",
        *("Spent", "$12.00"),
        *("Assumed for unknown prices", "$0.00"),
        *("Reserved now", "$0.00"),
        *("Runs", "2"),
        "By day",
    ]
    row = lines.index("<bob>", lines.index("Limits of today"))
    assert lines[row : row + 4] == ["<bob>", "90 %", "$9.00", "$10.00"]
    assert "acme/secret" in lines
    assert re.search(r'aria-label="Spend of each day from 2029-12-26 to', page.text)


class _Ids:
    def new(self) -> str:
        return "bob-id"


@pytest.mark.parametrize("viewer", [MEMBER, VIEWER])
def test_others_read_of_the_repositories_that_they_can_read(
    scene: Scene, viewer: str
) -> None:
    scene.spend(1.0, by=viewer, day=TODAY)
    scene.spend(2.0, by="alice", day=TODAY)
    spender = scene.spend(4.0, repo=SECRET_REPO, day=TODAY)
    for scope in (BudgetScope.REPO_DAY, BudgetScope.USER_DAY, BudgetScope.DAY):
        use = CeilingUse(scope=scope, ceiling_usd=5.0, taken_usd=4.0)
        scene.alerts.note(spender, use)
    page = scene.get("/spend", viewer)
    assert "acme/secret" not in page.text
    assert "Warnings" not in page.text
    lines = shown_text(page)
    assert lines[3:5] == ["Spent", "$3.00"]
    start, end = lines.index("Limits of today"), lines.index("By repository")
    limits = lines[start:end]
    assert viewer in limits
    assert "Everybody together" not in limits
    assert "alice" not in limits
    rows = list(csv.reader(io.StringIO(scene.get("/spend.csv", viewer).text)))
    assert {row[1] for row in rows[1:]} == {"acme/shop"}


@pytest.mark.parametrize("path", ["/spend", "/spend.csv"])
def test_strangers_are_asked_to_sign_in(scene: Scene, path: str) -> None:
    scene.spend(1.0, day=TODAY)
    page = scene.get(path, STRANGER)
    assert page.status_code == 401
    assert "acme/shop" not in page.text
    assert f"next={path.replace('/', '%2F')}" in page.text


def test_an_unknown_period_is_the_usual_one(scene: Scene) -> None:
    for period in ("8", "-1", "x", "99999999999999999999"):
        page = scene.get(f"/spend?days={period}", ADMIN)
        assert "/spend.csv?days=30" in page.text


def test_a_cell_of_the_download_is_no_formula() -> None:
    row = SpendRow(
        day=TODAY,
        repo="github:acme/shop",
        account_id=AccountId("id"),
        spent_usd=1.25,
        runs=2,
    )
    told = as_csv([row], {"id": '=HYPERLINK("http://x")'})
    head, row_text = told.splitlines()
    assert head == "day,repository,person,spent_usd,assumed_usd,reserved_usd,runs"
    assert row_text == (
        '2030-01-01,acme/shop,"\'=HYPERLINK(""http://x"")",1.250000,0.000000,0.000000,2'
    )


def test_the_highest_day_fills_the_plot_and_none_is_no_fault() -> None:
    days = (
        SpendTotal(name="a", spent_usd=3.0, assumed_usd=1.0),
        SpendTotal(name="b", spent_usd=1.0),
    )
    high, low = plot_days(days)
    assert (high.paid, high.assumed, low.paid) == (75.0, 25.0, 25.0)
    assert low.x + low.width <= 100
    assert high.title == "a: $4.00"
    assert [one.paid for one in plot_days((SpendTotal(name="a"),))] == [0.0]
    assert plot_days(()) == ()
