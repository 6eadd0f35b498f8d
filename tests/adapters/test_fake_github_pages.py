"""The emulated GitHub shows people what it knows, in pages that run no script."""

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
BROWSER = {"Accept": "text/html,*/*"}
NOT_FOUND = 404


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub(enterprise=True) as github:
        github.add_user("alice")
        github.add_repository(REPO, files={"cart.py": "total = 1\n"})
        yield github


def _text(github: FakeGitHub, path: str) -> str:
    """Return what a page shows below its heading, a line for each block."""
    page = httpx.get(f"{github.web_url}/{REPO}{path}", headers=BROWSER)
    assert page.status_code == 200, page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    body = page.text.partition("<main>")[2].partition("</main>")[0]
    blocks = re.sub(r"</(?:h1|p|nav|li|span|pre)>", "\0", body)
    plain = html.unescape(re.sub(r"<[^>]+>", "", blocks)).split("\0")
    return "\n".join(" ".join(one.split()) for one in plain if one.strip())


def test_an_issue_has_its_comments_as_markdown(github: FakeGitHub) -> None:
    number = github.open_issue(REPO, "alice", "Wrong <sum>", "It says `1`, not **3**.")
    github.comment(REPO, number, "alice", "Like #1.\n\n<script>alert(1)</script>")
    said = re.sub(r"\d\d:\d\d:\d\d", "TIME", _text(github, f"/issues/{number}"))
    assert said == (
        "Wrong <sum> #1\n"
        "Open\n"
        "alice opened this issue\n"
        "alice · TIME UTC\n"
        "It says 1, not 3.\n"
        "alice · TIME UTC\n"
        "Like #1.\n"
        "alert(1)"
    )
    page = httpx.get(f"{github.web_url}/{REPO}/issues/{number}", headers=BROWSER).text
    assert "<code>1</code>, not <strong>3</strong>" in page
    assert '<a href="/acme/shop/issues/1">#1</a>' in page


def test_a_pull_request_has_its_text_and_its_files(github: FakeGitHub) -> None:
    changed = {"cart.py": "total = 3\n"}
    sha = github.commit_files(REPO, "fix", changed, author="alice")
    number = github.open_pull_request(
        REPO,
        "alice",
        Proposal(title="Fix the sum", body="Fixed.", head="fix", base="main"),
    )
    said = re.sub(r"\d\d:\d\d:\d\d", "TIME", _text(github, f"/pull/{number}"))
    assert said == (
        "Fix the sum #1\n"
        "Open\n"
        "alice wants to merge fix into main\n"
        "Conversation Files changed\n"
        "alice · TIME UTC\n"
        "Fixed."
    )
    files = "cart.py\n@@ -1 +1 @@\n-total = 1\n+total = 3"
    assert _text(github, f"/pull/{number}/files").endswith(files)
    assert _text(github, f"/commit/{sha}") == f"Commit {sha}\n{files}"
    assert _text(github, "/compare/main...fix") == f"main to fix\n{files}"
    assert _text(github, "") == (
        "Issues and pull requests\nNew issue\nFix the sum Pull request #1 by alice"
    )


def test_what_is_not_there_has_no_page(github: FakeGitHub) -> None:
    github.add_repository("acme/secret", private=True)
    for path in (
        f"{REPO}/issues/9",
        f"{REPO}/commit/0000000",
        f"{REPO}/compare/main...--output=x",
        "acme/secret",
        "acme/nothing",
    ):
        page = httpx.get(f"{github.web_url}/{path}", headers=BROWSER)
        assert page.status_code == NOT_FOUND, path


def test_a_program_gets_no_page(github: FakeGitHub) -> None:
    answer = httpx.get(f"{github.web_url}/{REPO}")
    assert (answer.status_code, answer.json()["message"]) == (NOT_FOUND, "Not Found")
