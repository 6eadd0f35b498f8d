"""Who may steer a run on its page, and how everybody else is refused."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries
from tests.adapters.web.browser import forms_on
from tests.adapters.web.watching import Watched, begin_run, end_run, watching
from tests.schema import add_sqlite_file


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Watched]:
    add_sqlite_file(tmp_path / "web.db")
    with (
        closing(Database(f"sqlite:///{tmp_path}/web.db")) as database,
        watching(database) as running,
    ):
        yield running


WRITER = {"x-viewer": "writer"}
READER = {"x-viewer": "reader"}
STRANGER = {"x-viewer": "stranger"}
FORGED = f"{'a' * 22}.{'0' * 64}"


def tokens(site: Watched, job_id: JobId, who: dict[str, str]) -> dict[str, str]:
    """Return the check of each form that somebody is given, by its act."""
    page = httpx.get(site.page(job_id), headers=who)
    return {
        one.fields["act"]: one.fields["check"]
        for one in forms_on(page)
        if "act" in one.fields
    }


def send(
    site: Watched, job_id: JobId, who: dict[str, str], **fields: str
) -> httpx.Response:
    return httpx.post(f"{site.page(job_id)}/commands", headers=who, data=fields)


def commands_stored(site: Watched) -> list[str]:
    rows = site.world.rows(deliveries)
    return [str(row["delivery_id"]) for row in rows if row["service"] == "web"]


def test_who_may_write_sends_a_command_and_is_led_back(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    check = tokens(site, job_id, WRITER)["stop"]
    sent = send(site, job_id, WRITER, check=check, act="stop")
    assert sent.status_code == 303
    assert sent.headers["location"] == f"/runs/{job_id}?sent=stop"
    [joined] = site.world.requests.joined(job_id)
    assert (joined.trigger.request, joined.trigger.actor.login) == (
        "stop",
        "writer",
    )
    shown = httpx.get(f"{site.page(job_id)}?sent=stop", headers=WRITER)
    assert "Sent: <strong>stop</strong>." in shown.text


def test_a_form_that_is_sent_again_does_nothing_more(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    check = tokens(site, job_id, WRITER)["message"]
    fields = {"check": check, "act": "message", "text": "in cents"}
    assert send(site, job_id, WRITER, **fields).status_code == 303
    again = send(site, job_id, WRITER, **fields)
    assert again.headers["location"] == f"/runs/{job_id}"
    other = send(site, job_id, WRITER, check=check, act="stop")
    assert other.headers["location"] == f"/runs/{job_id}"
    assert len(commands_stored(site)) == 1


@pytest.mark.parametrize(
    ("who", "status", "why"),
    [
        ({**WRITER, "x-role": "viewer"}, 403, "viewer"),
        (READER, 403, "To steer it, you need write access to acme/shop."),
        (STRANGER, 404, "not"),
        ({"x-viewer": "gitlab:writer"}, 404, "not"),
        ({}, 404, "not"),
    ],
)
def test_who_may_not_write_changes_nothing(
    who: dict[str, str], status: int, why: str, site: Watched
) -> None:
    job_id, _ = begin_run(site.world)
    theirs = tokens(site, job_id, WRITER)["stop"]
    for check in (theirs, FORGED, ""):
        refused = send(site, job_id, who, check=check, act="stop")
        assert refused.status_code == status
        assert why in refused.text
    assert commands_stored(site) == []
    assert tokens(site, job_id, who) == {}


def test_who_has_a_link_looks_only_and_is_asked_to_sign_in(site: Watched) -> None:
    with httpx.Client() as browser:
        job_id, _ = begin_run(site.world)
        browser.get(site.link(job_id))
        page = browser.get(site.page(job_id))
        assert "Sign in to answer or to stop this run." in page.text
        assert f"/auth/github/login?next=%2Fruns%2F{job_id}" in page.text
        assert not [one for one in forms_on(page) if "act" in one.fields]
        sent = browser.post(f"{site.page(job_id)}/commands", data={"act": "stop"})
        assert sent.status_code == 401
        # One who may only read does not become a writer by a link.
        browser.headers["x-viewer"] = "stranger"
        sent = browser.post(f"{site.page(job_id)}/commands", data={"act": "stop"})
        assert sent.status_code == 403
        assert commands_stored(site) == []


@pytest.mark.parametrize("check", ["", "x", FORGED])
def test_a_form_that_is_not_ours_is_refused(check: str, site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    fields = {"check": check, "act": "message", "text": "<b>in cents"}
    refused = send(site, job_id, WRITER, **fields)
    assert refused.status_code == 403
    assert "This form has expired, so nothing was sent." in refused.text
    # What was typed is not lost, and is no markup.
    assert "&lt;b&gt;in cents</textarea>" in refused.text
    assert commands_stored(site) == []


def test_a_form_of_somebody_else_is_refused(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    admins = tokens(site, job_id, site.as_admin)["stop"]
    refused = send(site, job_id, WRITER, check=admins, act="stop")
    assert refused.status_code == 403
    assert commands_stored(site) == []


@pytest.mark.parametrize(
    ("fields", "status", "problem"),
    [
        ({"act": "approve"}, 409, "does not wait for an approval."),
        ({"act": "budget", "text": "two"}, 422, "is not an amount in US dollars"),
        ({"act": "message", "text": " "}, 422, "Type a text: it is empty."),
        ({"act": "message", "text": "x" * 20_001}, 422, "the limit is 20000."),
        ({"act": "delete"}, 422, "The form does not say what to do"),
        ({}, 422, "The form does not say what to do"),
        ({"act": "message", "text": "x" * 300_000}, 413, "The text is too long."),
    ],
)
def test_what_cannot_be_sent_is_said_beside_the_forms(
    fields: dict[str, str], status: int, problem: str, site: Watched
) -> None:
    job_id, _ = begin_run(site.world)
    check = tokens(site, job_id, WRITER)["stop"]
    refused = send(site, job_id, WRITER, check=check, **fields)
    assert refused.status_code == status
    assert problem in refused.text
    assert "Stop the run" in refused.text
    assert commands_stored(site) == []


def test_a_run_that_has_ended_cannot_be_stopped_from_an_old_page(
    site: Watched,
) -> None:
    job_id, lease = begin_run(site.world)
    check = tokens(site, job_id, WRITER)["stop"]
    end_run(site.world, lease, Outcome(kind=OutcomeKind.ANSWERED), DeliveryResult())
    late = send(site, job_id, WRITER, check=check, act="stop")
    assert late.status_code == 409
    assert "has ended already; it can be retried." in late.text
    assert set(tokens(site, job_id, WRITER)) == {"message", "retry"}
    assert set(tokens(site, job_id, site.as_admin)) == {"retry"}


def test_an_administrator_needs_a_form_of_ours_too(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    forged = send(site, job_id, site.as_admin, check=FORGED, act="stop")
    assert forged.status_code == 403
    check = tokens(site, job_id, site.as_admin)["stop"]
    assert send(site, job_id, site.as_admin, check=check, act="stop").is_redirect
    [joined] = site.world.requests.joined(job_id)
    assert joined.trigger.actor.is_operator


def test_the_part_that_changes_is_had_alone_by_who_may_see_the_run(
    site: Watched,
) -> None:
    job_id, _ = begin_run(site.world)
    address = f"{site.page(job_id)}/actions"
    part = httpx.get(address, headers=WRITER)
    assert part.status_code == 200
    assert "Stop the run" in part.text
    assert "<html" not in part.text
    assert httpx.get(address, headers=STRANGER).status_code == 404
