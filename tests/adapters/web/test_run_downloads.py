"""What can be taken away from the page of a run, and who may hand out links to it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput, StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.replay.trajectory import Trajectory
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.runs.export import export_service_log
from patchwright.workers.store.run_links import RUN_LINK_LIFETIME
from tests.adapters.store.world import REPO, trigger
from tests.adapters.web.browser import forms_on
from tests.adapters.web.watching import (
    A_SECRET,
    Watched,
    append,
    begin_run,
    end_run,
    watching,
)
from tests.unit.resolver.endings import proven

WRITER = {"x-viewer": "github:writer"}
READER = {"x-viewer": "github:reader"}
STRANGER = {"x-viewer": "github:eve"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Watched]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with watching(database) as running:
            yield running


@pytest.fixture
def job_id(site: Watched) -> JobId:
    job_id, _ = begin_run(site.world)
    return job_id


def share(site: Watched, job_id: JobId, as_whom: dict[str, str], check: str) -> int:
    url, form = f"{site.page(job_id)}/share", {"check": check}
    return httpx.post(url, data=form, headers=as_whom).status_code


def token_of(site: Watched, login: str) -> str:
    """Return the form token of somebody who cannot see a form."""
    identity = Actor(service="github", login=login)
    principal = Principal(
        name=login,
        role=Role.MEMBER,
        signed_in_by=SignedInBy.SESSION,
        identity=identity,
    )
    return site.pages.site.form_tokens.new(principal.key)


def check_of(site: Watched, job_id: JobId, as_whom: dict[str, str]) -> str:
    page = httpx.get(site.page(job_id), headers=as_whom)
    [check] = [
        form.fields["check"]
        for form in forms_on(page)
        if form.action.endswith("/share")
    ]
    return check


def test_the_log_is_a_file_without_secrets(site: Watched, job_id: JobId) -> None:
    append(site.world, job_id, RunCommand(command=f"curl -u me:{A_SECRET} x.test"))
    answer = httpx.get(f"{site.page(job_id)}/log.jsonl", headers=READER)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    name = f'attachment; filename="run-{job_id[:8]}.jsonl"'
    assert answer.headers["content-disposition"] == name
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["id"] for one in events] == list(range(1, 13))
    assert events[-1]["payload"]["command"].startswith("curl -u me:")
    assert A_SECRET not in answer.text


def test_a_long_log_is_sent_as_it_is_read(site: Watched, job_id: JobId) -> None:
    for number in range(600):
        append(site.world, job_id, RunCommand(command=f"echo {number} {A_SECRET}"))
    pages, job = site.pages, site.world.job(job_id)
    parts = export_service_log(pages.reader, job, pages.redactor)
    assert next(parts).count("\n") == 500
    answer = httpx.get(f"{site.page(job_id)}/log.jsonl", headers=READER)
    assert "content-length" not in answer.headers
    ids = [json.loads(line)["id"] for line in answer.text.splitlines()]
    assert ids == list(range(1, 612))
    assert A_SECRET not in answer.text


def test_the_log_of_a_run_has_no_events_of_another_one(site: Watched) -> None:
    first, lease = begin_run(site.world)
    end_run(site.world, lease, proven(), DeliveryResult())
    second, _ = begin_run(site.world, "k2")
    told = [
        httpx.get(f"{site.page(one)}/log.jsonl", headers=READER).text.splitlines()
        for one in (first, second)
    ]
    ids = [[json.loads(line)["id"] for line in lines] for lines in told]
    assert ids[0] == list(range(1, ids[1][0]))
    assert len(ids[1]) == 11


def test_the_trajectory_is_what_replay_reads(site: Watched, job_id: JobId) -> None:
    answer = httpx.get(f"{site.page(job_id)}/trajectory.json", headers=READER)
    document = Trajectory.model_validate_json(answer.text)
    assert document.run.title == "Wrong sum"
    assert len(document.events) == 11


def test_a_run_that_has_not_begun_has_nothing_to_download(site: Watched) -> None:
    url = f"{site.page(site.world.ask())}/log.jsonl"
    answer = httpx.get(url, headers=READER)
    assert answer.status_code == 404
    assert "The run has not begun, so it has no log." in answer.text


@pytest.mark.parametrize(
    "path", ["/log.jsonl", "/trajectory.json", "/diff", "/diff?view=split", "/events/8"]
)
def test_only_who_may_see_the_run_gets_its_parts(
    site: Watched, job_id: JobId, path: str
) -> None:
    url = f"{site.page(job_id)}{path}"
    for headers in ({}, STRANGER, {"x-viewer": "gitlab:reader"}):
        assert httpx.get(url, headers=headers).status_code == 404
    assert httpx.get(url, headers=READER).status_code == 200
    with httpx.Client(follow_redirects=True) as browser:
        browser.get(site.link(job_id))
        assert browser.get(url).status_code == 200


def test_a_long_output_is_read_on_a_page_of_its_own(
    site: Watched, job_id: JobId
) -> None:
    output = "\n".join(f"\x1b[31m<line {n}>\x1b[0m" for n in range(3_000))
    observed = CommandOutput(exit_code=0, output=output)
    event = append(site.world, job_id, observed, source=Source.ENVIRONMENT)
    page = httpx.get(site.page(job_id), headers=READER).text
    assert f'<a href="{job_id}/events/{event}">Show all of it</a>' in page
    assert "&lt;line 1500&gt;" not in page
    whole = httpx.get(f"{site.page(job_id)}/events/{event}", headers=READER).text
    assert "&lt;line 1500&gt;" in whole
    assert '<span class="t-f1">&lt;line 0&gt;</span>' in whole


@pytest.mark.parametrize("event", ["0", "999", "-1", "x", "1e3", "%00", "9" * 30])
def test_an_event_of_no_run_has_no_page(
    site: Watched, job_id: JobId, event: str
) -> None:
    url = f"{site.page(job_id)}/events/{event}"
    assert httpx.get(url, headers=READER).status_code == 404


def test_an_event_of_another_run_is_not_shown(site: Watched) -> None:
    first, lease = begin_run(site.world)
    end_run(site.world, lease, proven(), DeliveryResult())
    second = site.world.ask("k2")
    site.world.claim(second)
    loading = StateChanged(state=AgentState.LOADING)
    begin = append(site.world, second, loading, source=Source.SYSTEM)
    for job_id, event, status in (
        (first, 8, 200),
        (second, 8, 404),
        (second, begin, 200),
        (first, begin, 404),
    ):
        url = f"{site.page(job_id)}/events/{event}"
        assert httpx.get(url, headers=READER).status_code == status


# Sharing


def test_a_run_is_shared_by_a_link_for_a_month(site: Watched, job_id: JobId) -> None:
    site.world.clock.advance(1_000_000)
    form = {"check": check_of(site, job_id, WRITER)}
    answer = httpx.post(f"{site.page(job_id)}/share", data=form, headers=WRITER)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    [link] = [
        form_field
        for form_field in answer.text.split('"')
        if form_field.startswith(f"{site.page(job_id)}?key=")
    ]
    with httpx.Client(follow_redirects=True) as browser:
        page = browser.get(link)
        assert page.status_code == 200
        assert "Share this run" not in page.text
        site.world.clock.advance(RUN_LINK_LIFETIME.total_seconds() - 1)
        assert browser.get(link).status_code == 200
        site.world.clock.advance(2)
        assert browser.get(link).status_code == 404


def test_only_who_sees_the_run_without_a_link_may_share_it(
    site: Watched, job_id: JobId
) -> None:
    check = check_of(site, job_id, WRITER)
    assert share(site, job_id, {}, check) == 404
    assert share(site, job_id, STRANGER, check) == 404
    assert share(site, job_id, READER, check) == 403
    assert share(site, job_id, {**WRITER, "x-role": "viewer"}, check) == 403
    assert share(site, job_id, WRITER, "") == 403
    assert share(site, job_id, WRITER, f"{check[:-1]}x") == 403
    with httpx.Client(follow_redirects=True) as browser:
        assert "Share this run" not in browser.get(site.link(job_id)).text
        url = f"{site.page(job_id)}/share"
        assert browser.post(url, data={"check": check}).status_code == 404
        # Signed in, but let in by the link alone.
        browser.headers.update(STRANGER)
        check = token_of(site, "eve")
        assert browser.post(url, data={"check": check}).status_code == 403


def test_what_was_said_in_private_is_shared_by_writers_alone(site: Watched) -> None:
    chat = TalkThread(service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.1")
    asked = trigger("k-chat").replace(thread=chat, repo=REPO)
    job_id = site.world.deliver(asked).job_id
    assert job_id is not None
    assert share(site, job_id, READER, token_of(site, "reader")) == 404
    assert share(site, job_id, WRITER, token_of(site, "writer")) == 200
