"""The list of runs on a page: what it shows, to whom, by which address, and live."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind
from patchwright.core.types.work import Outcome, Usage
from patchwright.workers.db.database import Database
from patchwright.workers.runs.listing import ROWS_PER_PAGE
from patchwright.workers.store.account_links import LinkStore
from tests.adapters.store.conftest import clock, database, database_url
from tests.adapters.store.listed_runs import ask, begin, end
from tests.adapters.store.world import REPO, World, trigger
from tests.adapters.web.watching import ADMIN_TOKEN, Watched, watching

__all__ = ["clock", "database", "database_url"]

OTHER = RepoRef(forge="github", full_name="acme/other")
JO = Actor(service="slack", login="Jo Smith", external_id="U2", host="T1")
CHAT = TalkThread(service="slack", place="T1/C0123", kind=ThreadKind.CHAT, id="17.1")
AS_WRITER = {"x-viewer": "writer"}
AS_READER = {"x-viewer": "reader"}
AS_ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}


@pytest.fixture
def site(database: Database) -> Iterator[Watched]:
    with watching(database) as watched:
        yield watched


def listed(site: Watched, query: str = "", **headers: str) -> list[str]:
    """Return the rows that somebody sees, each as one line of text."""
    page = httpx.get(f"{site.url}/runs{query}", headers=headers or AS_WRITER)
    assert page.status_code == 200, page.text
    return rows_of(page.text)


def rows_of(page: str) -> list[str]:
    return [
        row_text(one) for one in re.findall(r"<li class=.run.*?</li>", page, re.DOTALL)
    ]


def row_text(row: str) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", " ", row))
    return " ".join(text.split()).replace(" ago", "")


def ask_in_chat(world: World, repo: RepoRef | None = REPO) -> JobId:
    world.clock.advance(1)
    person = Actor(service="slack", login="U2", external_id="U2", host="T1")
    wanted = trigger("c1").replace(thread=CHAT, repo=repo, actor=person, title="")
    job_id = world.deliver(wanted).job_id
    assert job_id is not None
    return job_id


def test_each_run_is_one_row_that_says_how_it_stands(site: Watched) -> None:
    world = site.world
    done = ask(world, 1, title="Count\nevery piece")
    end(world, begin(world, done))
    failed = ask(world, 2)
    unpriced = Outcome(kind=OutcomeKind.FAILED, usage=Usage(), iterations=2)
    end(world, begin(world, failed), unpriced)
    chat = ask_in_chat(world)
    begin(world, chat, "Sort the people")
    queued = ask(world, 3)
    by = "from GitHub · by alice"
    of_chat, of_done = f"from Slack #C0123 · by U2 · {chat[:8]}", f"{by} · {done[:8]}"
    assert listed(site) == [
        f"Queued, place 1 It is broken acme/shop#3 · {by} · {queued[:8]} 0s",
        f"Working on it Sort the people acme/shop · {of_chat} $0.00 of $3.00 1s",
        f"Failed It is broken acme/shop#2 · {by} · {failed[:8]} cost unknown 2s",
        f"Done, proven Count every piece acme/shop#1 · {of_done} $0.41 of $3.00 3s",
    ]


def test_people_who_were_told_to_us_by_an_id_have_their_names(site: Watched) -> None:
    world = site.world
    links = LinkStore(world.database, world.clock)
    # The same id in another workspace is somebody else.
    links.invite(JO.replace(login="zoe", host="T2"))
    first = ask_in_chat(world)
    by_id, by_name = (f"from Slack #C0123 · by {one}" for one in ("U2", "Jo Smith"))
    assert by_id in listed(site)[0]
    assert "requested by U2" in run_page(site, first)
    links.invite(JO)
    assert by_name in listed(site)[0]
    assert "requested by Jo Smith" in run_page(site, first)
    for person in ("Jo Smith", "U2"):
        assert len(listed(site, f"?requester={person}")) == 1
    assert listed(site, "?requester=Jo") == []


def run_page(site: Watched, job_id: JobId) -> str:
    return httpx.get(site.page(job_id), headers=AS_WRITER).text


def test_the_filters_are_in_the_address_and_in_the_form(site: Watched) -> None:
    done = ask(site.world, 1, title="Sum & <b>total</b>")
    end(site.world, begin(site.world, done))
    ask(site.world, 2)
    query = "?text=SUM+%26&state=ended&outcome=resolved&source=github&repo=acme/shop"
    page = httpx.get(f"{site.url}/runs{query}&requester=@alice", headers=AS_WRITER)
    assert [one.split()[2] for one in rows_of(page.text)] == ["Sum"]
    assert 'value="SUM &amp;"' in page.text
    assert '<option value="ended" selected>Ended</option>' in page.text
    assert '<option value="resolved" selected>Done</option>' in page.text
    assert "<b>total" not in page.text
    assert listed(site, "?requester=nobody") == []


def test_an_unknown_word_in_the_address_is_answered_with_the_known_ones(
    site: Watched,
) -> None:
    page = httpx.get(f"{site.url}/runs?state=<b>&text=a", headers=AS_WRITER)
    assert page.status_code == 422
    problem = "“&lt;b&gt;” is unknown as state. Use one of these: queued, running, "
    assert f"{problem}waiting, delivering, ended." in page.text
    live = httpx.get(f"{site.url}/runs/live?outcome=x", headers=AS_WRITER)
    assert (live.status_code, live.text[:18]) == (422, "“x” is unknown as ")


def test_older_runs_are_a_link_away_with_the_same_filters(site: Watched) -> None:
    asked = [ask(site.world, number, title=f"No. {number}") for number in range(60)]
    address = "/runs?text=no."
    shown: list[str] = []
    while address:
        page = httpx.get(f"{site.url}{address}", headers=AS_WRITER)
        shown += re.findall(r'id="run-(\w+)"', page.text)
        older = re.search(r'href="([^"]+)">Older runs', page.text)
        address = html.unescape(older[1]) if older else ""
        is_first = len(shown) <= ROWS_PER_PAGE
        assert ("data-live" in page.text) == is_first
        newest = 'href="/runs?text=no.">← Newest runs'
        assert (newest in page.text) != is_first
    assert shown == asked[::-1]


def test_an_empty_list_says_what_to_do_first(site: Watched) -> None:
    page = httpx.get(f"{site.url}/runs", headers=AS_WRITER).text
    assert "No runs yet" in page
    assert "<code>@patchwright fix this</code> in an issue on GitHub" in page
    assert 'href="/requests/new">Make a request' in page
    filtered = httpx.get(f"{site.url}/runs?text=x", headers=AS_WRITER).text
    assert 'No run fits. <a href="/runs">Show all runs</a>.' in filtered


def test_everybody_sees_the_runs_that_the_forge_lets_them_read(site: Watched) -> None:
    """A link to one run opens no list, and no member sees another repository's."""
    world = site.world
    public, hidden = ask(world, 1), ask(world, 2, repo=OTHER)
    private = ask_in_chat(world)
    for headers, seen in (
        (AS_ADMIN, {public, hidden, private}),
        (AS_WRITER, {public, private}),
        (AS_READER, {public}),
        ({"x-viewer": "mallory"}, set()),
        ({"x-viewer": "gitlab:writer"}, set()),
    ):
        page = httpx.get(f"{site.url}/runs", headers=headers)
        assert set(re.findall(r'id="run-(\w+)"', page.text)) == seen, headers
        with news(site, headers) as lines:
            sent = first_rows(lines, len(seen))
        assert set(re.findall(r'id="run-(\w+)"', sent)) == seen, headers
    with httpx.Client() as browser:
        assert browser.get(site.link(public), follow_redirects=True).status_code == 200
        for path, status in (("/runs", 401), ("/runs/live", 401)):
            assert browser.get(f"{site.url}{path}").status_code == status
    wrong = {"Authorization": "Bearer wrong"}
    assert httpx.get(f"{site.url}/runs", headers=wrong).status_code == 401


def test_who_is_not_signed_in_is_led_there_and_back(site: Watched) -> None:
    page = httpx.get(f"{site.url}/runs?state=ended")
    assert page.status_code == 401
    assert "/auth/github/login?next=%2Fruns%3Fstate%3Dended" in page.text
    home = httpx.get(site.url)
    assert (home.status_code, home.headers["location"]) == (303, "/runs")


@contextmanager
def news(
    site: Watched, headers: dict[str, str], query: str = ""
) -> Iterator[Iterator[str]]:
    url = f"{site.url}/runs/live{query}"
    with httpx.stream("GET", url, headers=headers, timeout=10) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield answer.iter_lines()


def first_rows(lines: Iterator[str], count: int) -> str:
    """Read until so many rows have come."""
    text, rows = "", 0
    while rows < count:
        line = next(lines)
        text += line.removeprefix("data: ")
        rows += line == "data: </li>"
    return text


def test_a_row_changes_and_a_new_one_comes_while_somebody_watches(
    site: Watched,
) -> None:
    world = site.world
    job_id = ask(world, 1)
    with news(site, AS_WRITER, "?state=queued") as lines:
        assert row_text(first_rows(lines, 1)).endswith(f"{job_id[:8]} 0s")
        begun = begin(world, job_id)
        assert "Working on it" in row_with(lines, "Working on it")
        later = ask(world, 2, title="Another one")
        row = row_with(lines, later[:8])
        assert "Another one acme/shop#2 · from GitHub · by alice" in row
        end(world, begun)
        assert job_id[:8] in row_with(lines, "Done, proven")


def row_with(lines: Iterator[str], text: str) -> str:
    """Read until a row has this: a change may be seen in the middle."""
    while text not in (row := row_text(first_rows(lines, 1))):
        pass
    return row


def test_more_watch_than_may_are_asked_to_come_later(site: Watched) -> None:
    site.runs.live.most_viewers = 0
    refused = httpx.get(f"{site.url}/runs/live", headers=AS_WRITER)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")


def test_the_page_runs_nothing_that_is_not_a_file_of_ours(site: Watched) -> None:
    ask(site.world, 1, title='"><img src=x onerror=alert(1)><script>alert(1)</script>')
    page = httpx.get(f"{site.url}/runs", headers=AS_WRITER)
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "<img" not in page.text
    [script] = re.findall(r"<script[^>]*>", page.text)
    address = re.search(r'src="([^"]+)"', script)
    assert address is not None
    assert httpx.get(f"{site.url}{address[1]}").status_code == 200
