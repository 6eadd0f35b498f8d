"""The page of a run: who sees it, and what."""

from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from patchwright.core.events.actions import EditFile, Message, RunCommand, WriteTodos
from patchwright.core.events.observations import (
    CommandOutput,
    EvidenceRecorded,
    FileEdited,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source, Todo, ToolCall
from patchwright.core.types.base import JobId
from patchwright.core.types.evidence import Hunk, Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.work import BlockedRequest
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.run_links import RUN_LINK_LIFETIME
from tests.adapters.store.world import REPO, trigger
from tests.adapters.web.watching import Watched, append, begin_run, end_run, watching
from tests.unit.resolver.endings import (
    FULL_REPORT,
    RED,
    contradicted,
    ended,
    judged,
    proven,
)

LOADING = StateChanged(state=AgentState.LOADING)
PULL = DeliveryResult(
    branch="fix", pull_request=12, pull_request_url="https://github.test/pull/12"
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Watched]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with watching(database) as running:
            yield running


@pytest.fixture
def job_id(site: Watched) -> JobId:
    job_id, lease = begin_run(site.world)
    outcome = proven().replace(
        warnings=("`test_old.py` was deleted.",),
        notes=("A note.",),
        blocked=(BlockedRequest(host="evil.example", port=443, count=2),),
    )
    end_run(site.world, lease, outcome, PULL)
    return job_id


def read(site: Watched, job_id: JobId, query: str = "") -> httpx.Response:
    return httpx.get(site.page(job_id) + query, headers=site.as_admin)


# Who may see it


def test_a_link_lets_in_and_leaves_no_key_in_the_address(
    site: Watched, job_id: JobId
) -> None:
    with httpx.Client(follow_redirects=True) as browser:
        answer = browser.get(site.link(job_id))
        assert answer.status_code == 200
        assert str(answer.url) == site.page(job_id)
        assert "Wrong sum" in answer.text
        assert browser.get(site.page(job_id)).status_code == 200
    [arrival] = answer.history
    cookie = arrival.headers["set-cookie"]
    for part in (f"Path=/runs/{job_id}", "HttpOnly", "SameSite=lax", "Max-Age="):
        assert part in cookie
    assert arrival.headers["cache-control"] == "no-store"


def test_a_link_opens_one_run_and_no_other(site: Watched, job_id: JobId) -> None:
    _, _, key = site.link(job_id).partition("?")
    other = site.world.ask("k2")
    assert other != job_id
    assert httpx.get(f"{site.page(other)}?{key}").status_code == 404
    stolen = {"Cookie": f"patchwright_run={key.removeprefix('key=')}"}
    assert httpx.get(site.page(other), headers=stolen).status_code == 404
    assert httpx.get(site.page(job_id), headers=stolen).status_code == 200


def test_a_link_expires(site: Watched, job_id: JobId) -> None:
    with httpx.Client() as browser:
        browser.get(site.link(job_id))
        assert browser.get(site.page(job_id)).status_code == 200
        site.world.clock.advance(RUN_LINK_LIFETIME.total_seconds() + 1)
        assert browser.get(site.page(job_id)).status_code == 404
    assert httpx.get(site.link(job_id)).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 404),
        ({"Authorization": "Bearer admin-token"}, 200),
        ({"Authorization": "Bearer admin-tokem"}, 404),
        ({"Authorization": "Basic admin-token"}, 404),
        ({"x-viewer": "github:reader"}, 200),
        ({"x-viewer": "github:eve"}, 404),
        ({"x-viewer": "gitlab:reader"}, 404),
        ({"Cookie": "patchwright_run=0-" + "0" * 64}, 404),
        ({"Cookie": "patchwright_run=99999999999-" + "0" * 64}, 404),
    ],
)
def test_who_may_see_it(
    site: Watched, job_id: JobId, headers: dict[str, str], status: int
) -> None:
    assert httpx.get(site.page(job_id), headers=headers).status_code == status
    live = httpx.get(f"{site.page(job_id)}/live", headers=headers)
    assert live.status_code == status


@pytest.mark.parametrize(("who", "status"), [("reader", 404), ("writer", 200)])
def test_what_was_said_in_private_is_for_those_who_may_write(
    site: Watched, who: str, status: int
) -> None:
    chat = TalkThread(service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.1")
    asked = trigger("k-chat").replace(thread=chat, repo=REPO)
    job_id = site.world.deliver(asked).job_id
    assert job_id is not None
    headers = {"x-viewer": f"github:{who}"}
    assert httpx.get(site.page(job_id), headers=headers).status_code == status


def test_nobody_learns_whether_a_run_is_there(site: Watched, job_id: JobId) -> None:
    there = httpx.get(site.page(job_id))
    missing = httpx.get(site.page(JobId("0" * 32)))
    assert there.text == missing.text.replace("0" * 32, job_id)
    assert f"/auth/github/login?next=%2Fruns%2F{job_id}" in there.text


@pytest.mark.parametrize("name", ["%00", "a%2Fb", "x" * 200, "'--", "%22%3E%3Cb%3E"])
def test_odd_names_are_no_runs(site: Watched, name: str) -> None:
    answer = httpx.get(f"{site.url}/runs/{name}", headers=site.as_admin)
    assert answer.status_code == 404
    assert "<b>" not in answer.text


def test_the_page_trusts_nothing_from_elsewhere(site: Watched, job_id: JobId) -> None:
    headers = read(site, job_id).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert headers["x-robots-tag"] == "noindex, nofollow"
    style = httpx.get(f"{site.url}/assets/run.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "http" not in style.text


# What it shows


def test_the_page_of_a_run_that_ended(site: Watched, job_id: JobId) -> None:
    text = read(site, job_id).text
    for shown in (
        '<p class="state good"><strong>Done, proven</strong></p>',
        "$0.41 of $3.00",
        'value="14"',
        "7 of 50",
        "<p>The agent wrote:</p>",
        '<blockquote class="prose"><p>The total ignored the pieces.</p></blockquote>',
        '<p class="level good"><strong>Proven</strong>: in fresh sandboxes',
        "<code>tests/test_cart.py::test_pieces</code>",
        '<code class="cause">assert 450 == 1350</code>',
        "without the change: </span>failed</td>",
        "with it: </span>passed</td>",
        "base aaaaaaaaaa, head bbbbbbbbbb",
        'button primary" href="https://github.test/pull/12">Pull request #12</a>',
        '<a href="https://github.test/acme/shop/issues/7">#7</a>',
        "<code>test_old.py</code> was deleted.",
        "A note.",
        "<code>evil.example:443</code>, 2 times",
        "<code>pytest -k sum</code>",
        (
            '<tr class="added"><td class="no"></td><td class="no">2</td><td>+    '
            '<span class="s-k">return</span> <span class="s-b">sum</span>(p * n '
        ),
        "9,800 tokens · $0.1200 · 2.3 s",
        (
            '<span class="did">Run <code>python3 -m pytest -q</code> '
            '<span class="bad">exit 1</span></span>'
        ),
        (
            '<span class="said">The pieces are ignored.</span> '
            '<span class="did">Edit <code>cart.py</code> '
            '<span class="plain">+1 -1</span></span>'
        ),
        '<span class="what plain">Starting</span>',
        '<span class="what plain">Run ended: Done, proven</span>',
        "exit 1",
        "requested by alice",
    ):
        assert shown in text
    assert text.count("<script") == 2


def test_a_contradicted_change_says_so_first_and_names_what_breaks(
    site: Watched,
) -> None:
    job_id, lease = begin_run(site.world)
    end_run(site.world, lease, contradicted(), PULL.replace(draft=True))
    text = read(site, job_id).text
    assert '<p class="state bad"><strong>Contradicted</strong></p>' in text
    level = text.index('<p class="level bad"><strong>Contradicted</strong>: a test')
    names = ("tests/test_cart.py", "tests/test_tax.py", "tests/test_old.py")
    places = [
        text.index(f"<code>{name}")
        for name in (*names, "shop/cart.py:12-14", "tests/test_net.py")
    ]
    assert [level, *places] == sorted([level, *places])
    assert places[-1] < text.index("The agent wrote:")
    assert "4 of 5 changed parts removed in turn" in text


def test_a_change_without_proof_says_what_would_help(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    unproven = judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND, evidence=())
    end_run(site.world, lease, unproven, PULL.replace(draft=True))
    text = read(site, job_id).text
    assert '<p class="state open"><strong>Draft, not proven</strong></p>' in text
    assert "Set <code>test = [&#34;pytest -q&#34;]</code>" in text


def test_a_proof_of_another_commit_is_not_shown_as_one(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    moved = PULL.replace(is_rebased=True, head_sha="e" * 40)
    end_run(site.world, lease, proven(), moved)
    text = read(site, job_id).text
    assert "<strong>Change made, not proven</strong>" in text
    assert "the tests ran on another commit" in text


def test_names_of_tests_and_files_stay_text(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    name = "<script>alert(2)</script>"
    report = FULL_REPORT.replace(
        tests=(FULL_REPORT.tests[0].replace(name=name, cause=name),),
        newly_failing=(name,),
        altered=(name,),
        flaky=(name,),
        uncovered=(Hunk(path=name, start=1, lines=1),),
        suite_command=name,
    )
    outcome = proven().replace(
        proof_report=report, evidence=(RED.replace(command=name, tail=name),)
    )
    end_run(site.world, lease, outcome, PULL)
    text = read(site, job_id).text
    assert "<script>alert(2)" not in text
    assert text.count("&lt;script&gt;alert(2)&lt;/script&gt;") >= 8


def test_other_peoples_text_stays_text(site: Watched, job_id: JobId) -> None:
    text = read(site, job_id).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "Fix &lt;total&gt;" in text
    assert "<total>" not in text
    assert "&lt;b&gt;wrong&lt;/b&gt;" in text


def test_the_page_of_a_run_that_works_follows_it(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    answer = read(site, job_id)
    assert "<strong>Working on it</strong>" in answer.text
    assert "1 HTML comment was removed from the issue." in answer.text
    assert "<dd>3 of 50</dd>" in answer.text
    assert '<li class="doing">Fix &lt;total&gt;</li>' in answer.text
    assert f'data-live="{job_id}/live?after=11"' in answer.text
    assert '<script src="/assets/run.js?v=' in answer.text
    assert f'<noscript> · <a href="{job_id}">Reload</a></noscript>' in answer.text


def test_what_the_agent_wrote_is_read_as_markdown(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    text = "# What was wrong\n\nThe `total`:\n\n- ignored **pieces**\n- [see](https://a.test)"
    end_run(site.world, lease, proven(text), PULL)
    page = read(site, job_id).text
    assert (
        '<blockquote class="prose"><h4>What was wrong</h4>\n'
        "<p>The <code>total</code>:</p>\n"
        "<ul><li>ignored <strong>pieces</strong></li>"
        "<li>see (<code>https://a.test</code>)</li></ul></blockquote>"
    ) in page


def test_a_result_has_one_color_in_the_proof_and_in_the_log(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    append(site.world, job_id, EvidenceRecorded(evidence=RED), source=Source.SYSTEM)
    end_run(site.world, lease, proven(), PULL)
    page = read(site, job_id).text
    assert f'<span class="bad">exit 1</span> <code>{RED.command}</code>' in page
    assert (
        f'<span class="what bad">before the change: exit 1: {RED.command}</span>'
        in page
    )


def test_a_run_that_has_not_begun_is_queued(site: Watched) -> None:
    text = read(site, site.world.ask()).text
    assert "<strong>Queued</strong>" in text
    assert "Nothing has happened yet." in text


def test_s42_the_page_of_a_run_that_failed_says_why(site: Watched) -> None:
    job_id, lease = begin_run(site.world)
    failed = ended(OutcomeKind.FAILED, "The sandbox broke.", reason="sandbox")
    refused = DeliveryResult(refusal="The branch is protected.")
    end_run(site.world, lease, failed, refused, diff="")
    text = read(site, job_id).text
    assert '<p class="state bad"><strong>Failed</strong></p>' in text
    assert "<code>sandbox</code>" in text
    assert "The result could not be delivered: The branch is protected." in text
    assert "<h2>Change</h2>" not in text


def test_each_run_of_a_conversation_shows_its_own_events(site: Watched) -> None:
    first, lease = begin_run(site.world)
    end_run(site.world, lease, proven("The first one."), PULL)
    second = site.world.ask("k2")
    site.world.claim(second)
    begin = append(site.world, second, LOADING, source=Source.SYSTEM)
    text = read(site, second).text
    assert f'id="e{begin}"' in text
    assert 'id="e1"' not in text
    assert f'id="e{begin}"' not in read(site, first).text


def test_a_long_run_is_read_page_by_page(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    for number in range(300):
        append(site.world, job_id, RunCommand(command=f"echo {number}"))
    newest = read(site, job_id).text
    assert newest.count("<li id=") == 200
    assert f'href="{job_id}?before=112#log">Earlier steps' in newest
    earlier = read(site, job_id, "?before=112").text
    assert "<code>echo 99</code>" in earlier
    assert "<code>echo 100</code>" not in earlier
    assert "data-live" not in earlier
    assert "Earlier steps" not in earlier
    assert "Newest steps" in earlier


def test_a_huge_output_does_not_make_a_huge_page(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    output = CommandOutput(exit_code=0, output="line\n" * 100_000)
    append(site.world, job_id, output, source=Source.ENVIRONMENT)
    text = read(site, job_id).text
    assert len(text) < 60_000
    assert "characters cut" in text


HOSTILE = "\x1b[31m<img src=x onerror=alert(1)>\x1b]8;;javascript:alert(2)\x07\"'&"


_ADDRESSES = frozenset({"action", "formaction", "href", "src", "srcset"})


class _Tags(HTMLParser):
    """Notes what could run: tags, and attributes that are scripts or addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            is_script = name.startswith("on") or name == "style"
            leads_away = name in _ADDRESSES and "javascript:" in (value or "")
            if is_script or leads_away:
                self.odd.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("is_split", [False, True])
def test_whatever_was_logged_runs_nothing(site: Watched, *, is_split: bool) -> None:
    job_id, lease = begin_run(site.world)
    call = ToolCall(id="h", name=HOSTILE, arguments="{}")
    diff = f"--- a/{HOSTILE}\n+++ b/x\n@@ -1 +1 @@ {HOSTILE}\n-{HOSTILE}\n+{HOSTILE}\n"
    todo = Todo(text=HOSTILE, state="doing")
    for payload in (
        ModelReply(text=f"{HOSTILE}\n\n{HOSTILE}", tool_calls=(call,)),
        RunCommand(command=f"{HOSTILE}\n{HOSTILE}", call_id="h"),
        CommandOutput(exit_code=1, output=f"{HOSTILE}\n" * 20, call_id="h"),
        EditFile(path=f"{HOSTILE}.py", edits=(), call_id="i"),
        FileEdited(path="x", diff=diff, call_id="i"),
        WriteTodos(todos=(todo,), call_id="j"),
        Message(text=f"{HOSTILE}\n{HOSTILE}"),
        StateChanged(state=AgentState.PAUSED, reason=HOSTILE),
    ):
        append(site.world, job_id, payload)
    outcome = proven(HOSTILE).replace(notes=(HOSTILE,), warnings=(HOSTILE,))
    git_diff = f"diff --git a/x b/{HOSTILE}.py\n{diff}"
    end_run(site.world, lease, outcome, PULL, diff=git_diff)
    text = read(site, job_id, "/diff?view=split" if is_split else "").text
    found = _Tags()
    found.feed(text)
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "img" not in found.tags
    assert found.odd == []
    assert text.count("<script") == (0 if is_split else 2)


def test_the_page_of_a_long_run_is_light(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    line = '\x1b[32mtests/test_cart.py\x1b[0m <line> "of" output\n'
    output = CommandOutput(exit_code=1, output=line * 300)
    for number in range(70):
        append(site.world, job_id, ModelReply(text=f"Step {number}.\n\nMore words."))
        append(site.world, job_id, RunCommand(command=f"echo {number}"))
        append(site.world, job_id, output, source=Source.ENVIRONMENT)
    page = read(site, job_id)
    assert "Earlier steps" in page.text
    assert len(page.content) < 300_000
    # Steps are numbered in the whole run: three are before these.
    assert '<span class="no">73</span>' in page.text


def test_other_threads_of_the_run_are_linked(site: Watched) -> None:
    job_id, _ = begin_run(site.world)
    ticket = TalkThread(
        service="jira", place="jira.test/SHOP", kind=ThreadKind.TICKET, id="SHOP-7"
    )
    chat = TalkThread(service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.1")
    for thread in (ticket, chat):
        site.world.threads.link(
            site.world.conversation(job_id), thread, site.world.clock.now()
        )
    assert (
        '<p class="facts">Also in: '
        '<a href="https://jira.test/browse/SHOP-7">SHOP-7</a>, a thread of Slack</p>'
    ) in read(site, job_id).text
