"""Who may share a run sees its links on its page, and takes them back."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.types.base import JobId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import run_links
from patchwright.workers.store.run_links import MAX_OPEN_LINKS, LinkActor
from tests.adapters.store.world import ISSUE, trigger
from tests.adapters.web.watching import Watched, append, begin_run, watching
from tests.schema import add_sqlite_file

WRITER = {"x-viewer": "github:writer"}
READER = {"x-viewer": "github:reader"}
STRANGER = {"x-viewer": "github:eve"}
VIEWER = {**READER, "x-role": "viewer"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Watched]:
    file = tmp_path / "web.db"
    add_sqlite_file(file)
    with (
        closing(Database(f"sqlite:///{file}")) as database,
        watching(database) as running,
    ):
        yield running


@pytest.fixture
def job_id(site: Watched) -> JobId:
    return begin_run(site.world)[0]


def page_of(site: Watched, job_id: JobId, headers: dict[str, str]) -> str:
    answer = httpx.get(site.page(job_id), headers=headers)
    assert answer.status_code == 200
    return answer.text


def check_of(page: str) -> str:
    found = re.search(r'name="check" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def section_of(page: str) -> str:
    """Return the part about links, as people read it."""
    part = page.partition('<h2 id="links">')[2].partition("</section>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", part).split())


def send(
    site: Watched,
    job_id: JobId,
    path: str,
    headers: dict[str, str],
    **fields: str,
) -> httpx.Response:
    check = check_of(page_of(site, job_id, headers))
    form = {"check": check, **fields}
    return httpx.post(f"{site.page(job_id)}/{path}", data=form, headers=headers)


def share(site: Watched, job_id: JobId, headers: dict[str, str] = WRITER) -> str:
    answer = send(site, job_id, "share", headers)
    assert answer.status_code == 200
    found = re.search(r'value="([^"]+\?key=[^"]+)"', answer.text)
    assert found is not None
    return found[1]


def id_of(link: str) -> str:
    return link.partition("?key=")[2].partition("-")[0]


def test_the_page_lists_who_made_each_link_and_until_when_it_is_open(
    site: Watched, job_id: JobId
) -> None:
    own = site.link(job_id)
    site.world.clock.advance(60)
    shared = share(site, job_id)
    page = page_of(site, job_id, READER)
    one, other = (site.pages.access.links.load(id_of(x)) for x in (shared, own))
    assert one is not None
    assert other is not None
    assert section_of(page) == (
        "Links that open this run Who has one of these links sees the run without "
        "signing in, and cannot steer it. Made by Made Open until Take back "
        f"writer Made {one.created_at:%Y-%m-%d %H:%M} UTC "
        f"Open until {one.expires_at:%Y-%m-%d %H:%M} UTC Take back "
        f"Patchwright in its own messages Made {other.created_at:%Y-%m-%d %H:%M} UTC "
        f"Open until {other.expires_at:%Y-%m-%d %H:%M} UTC Take back "
        "Share this run Take back all links"
    )
    for link in (shared, own):
        assert link.partition("?key=")[2] not in page


def test_a_run_without_links_says_so(site: Watched, job_id: JobId) -> None:
    assert section_of(page_of(site, job_id, WRITER)) == (
        "Links that open this run No link is open: only people who may see the run "
        "without one see it. Share this run"
    )


def test_who_may_not_share_sees_no_links(site: Watched, job_id: JobId) -> None:
    link = share(site, job_id)
    assert 'id="links"' not in page_of(site, job_id, VIEWER)
    with httpx.Client(follow_redirects=True) as browser:
        assert 'id="links"' not in browser.get(link).text


def test_a_link_that_was_taken_back_is_as_an_unknown_one(
    site: Watched, job_id: JobId
) -> None:
    link, kept = share(site, job_id), share(site, job_id)
    with httpx.Client(follow_redirects=True) as browser, httpx.Client() as other:
        assert browser.get(link).status_code == 200
        other.get(kept)
        done = send(site, job_id, "links/revoke", WRITER, link=id_of(link))
        assert done.status_code == 303
        assert done.headers["location"] == f"/runs/{job_id}?links=one#links"
        unknown = httpx.get(f"{site.page(job_id)}?key=unknown")
        assert unknown.status_code == 404
        for url in (link, site.page(job_id)):
            found = browser.get(url)
            assert (found.status_code, found.text) == (404, unknown.text)
        for part in ("live", "actions", "log.jsonl", "trajectory.json", "diff"):
            assert browser.get(f"{site.page(job_id)}/{part}").status_code == 404
        assert other.get(site.page(job_id)).status_code == 200
    page = page_of(site, job_id, WRITER)
    assert f'value="{id_of(link)}"' not in page
    assert f'value="{id_of(kept)}"' in page


def test_what_was_done_is_said_once_it_is_done(site: Watched, job_id: JobId) -> None:
    page = httpx.get(f"{site.page(job_id)}?links=one", headers=WRITER).text
    assert "The link was taken back. It opens nothing any more." in page
    page = httpx.get(f"{site.page(job_id)}?links=other", headers=WRITER).text
    assert 'role="status">The' not in page


def test_all_links_are_taken_back_at_once(site: Watched, job_id: JobId) -> None:
    links = [site.link(job_id), share(site, job_id), share(site, job_id, READER)]
    done = send(site, job_id, "links/revoke-all", READER)
    assert done.headers["location"] == f"/runs/{job_id}?links=all#links"
    assert [httpx.get(one).status_code for one in links] == [404, 404, 404]
    assert "No link is open" in page_of(site, job_id, WRITER)
    # The next message of the service has no key.
    assert site.link(job_id) == site.page(job_id)


def test_a_reader_is_not_kept_out_by_a_link_that_opens_nothing(
    site: Watched, job_id: JobId
) -> None:
    link = share(site, job_id)
    send(site, job_id, "links/revoke-all", WRITER)
    with httpx.Client(follow_redirects=True, headers=READER) as browser:
        found = browser.get(link)
    assert (found.status_code, str(found.url)) == (200, site.page(job_id))
    assert "set-cookie" not in found.history[0].headers


def test_only_who_may_share_takes_links_back(site: Watched, job_id: JobId) -> None:
    link = share(site, job_id)
    check = check_of(page_of(site, job_id, WRITER))
    for path in ("links/revoke", "links/revoke-all"):
        url = f"{site.page(job_id)}/{path}"
        form = {"check": check, "link": id_of(link)}
        for headers, status in (
            ({}, 404),
            (STRANGER, 404),
            (READER, 403),
            ({**WRITER, "x-role": "viewer"}, 403),
        ):
            assert httpx.post(url, data=form, headers=headers).status_code == status
        forged = {"check": f"{check[:-1]}x", "link": id_of(link)}
        assert httpx.post(url, data=forged, headers=WRITER).status_code == 403
        with httpx.Client(headers=STRANGER) as browser:
            browser.get(link)
            assert browser.post(url, data=form).status_code == 403
    assert httpx.get(link).status_code == 303


def test_links_of_another_run_stay(site: Watched, job_id: JobId) -> None:
    link = share(site, job_id)
    elsewhere = trigger("k2").replace(thread=ISSUE.replace(number=8))
    other = site.world.deliver(elsewhere).job_id
    assert other is not None
    send(site, other, "links/revoke", WRITER, link=id_of(link))
    assert httpx.get(link).status_code == 303


def test_a_form_that_is_sent_twice_makes_one_link(site: Watched, job_id: JobId) -> None:
    form = {"check": check_of(page_of(site, job_id, WRITER))}
    url = f"{site.page(job_id)}/share"
    first, again = (httpx.post(url, data=form, headers=WRITER) for _ in range(2))
    assert first.status_code == again.status_code == 200
    assert len(site.world.rows(run_links)) == 1
    send(site, job_id, "links/revoke-all", WRITER)
    last = httpx.post(url, data=form, headers=WRITER)
    assert last.headers["location"] == f"/runs/{job_id}#links"
    assert "No link is open" in page_of(site, job_id, WRITER)


def test_there_are_only_so_many(site: Watched, job_id: JobId) -> None:
    links, job = site.pages.access.links, site.world.job(job_id)
    for _ in range(MAX_OPEN_LINKS):
        links.make(job, LinkActor(key="k", name="bob"))
    full = send(site, job_id, "share", WRITER)
    assert full.status_code == 409
    assert "This run has 50 open links. Take one back first." in full.text


# Those who watch


def test_who_watches_by_a_link_is_told_nothing_once_it_is_taken_back(
    site: Watched, job_id: JobId
) -> None:
    # Only what wakes a stream counts, and not the time.
    site.pages.live.look_again_s = 60
    gone, kept = share(site, job_id), share(site, job_id)
    with httpx.Client(timeout=10) as browser, httpx.Client(timeout=10) as other:
        browser.get(gone)
        other.get(kept)
        url = f"{site.page(job_id)}/live?after=11"
        with browser.stream("GET", url) as closed, other.stream("GET", url) as going:
            lines, others = closed.iter_lines(), going.iter_lines()
            _read_until(lines, "event: turn")
            _read_until(others, "event: turn")
            send(site, job_id, "links/revoke", WRITER, link=id_of(gone))
            append(site.world, job_id, RunCommand(command="make secrets"))
            # It ends by itself, well before its time is up.
            assert "make secrets" not in "\n".join(lines)
            assert any("make secrets" in line for line in others)
        assert browser.get(url).status_code == 404


def test_who_may_read_the_run_anyway_watches_on(site: Watched, job_id: JobId) -> None:
    link = share(site, job_id)
    with httpx.Client(headers=READER, timeout=10) as browser:
        browser.get(link)
        with browser.stream("GET", f"{site.page(job_id)}/live?after=11") as answer:
            lines = answer.iter_lines()
            _read_until(lines, "event: turn")
            send(site, job_id, "links/revoke-all", WRITER)
            append(site.world, job_id, RunCommand(command="make secrets"))
            assert any("make secrets" in line for line in lines)


def _read_until(lines: Iterator[str], wanted: str) -> None:
    assert any(line == wanted for line in lines)
