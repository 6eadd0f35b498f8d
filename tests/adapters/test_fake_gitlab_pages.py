"""The pages of the fake GitLab, on which people look at what the bot has written."""

import re
from collections.abc import Iterator

import pytest

from tests.fakes.gitlab import (
    MERGE_REQUEST,
    FakeGitLab,
    Level,
    Place,
    Proposal,
    Remark,
    Report,
    Spot,
)
from tests.fakes.gitlab.clients import Caller

REPO = "top/sub/app"
TEXT = """Fixes #1, see !1 and @alice.

<!-- nobody sees this -->
- [x] Found it
- [ ] Tested it

<details><summary>More</summary>

| a | b |
| --- | --- |
| 1 | 2 |

</details>
"""
SUGGESTION = "Better:\n\n```suggestion:-1+0\nc = 3\n```\n"


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    with FakeGitLab(Place(prefix="/gitlab")) as server:
        for name in ("alice", "bob"):
            server.add_user(name)
            server.grant("top", name, Level.MAINTAINER)
        server.add_project(REPO, files={"a.py": "a = 1\n"})
        server.open_issue(REPO, "alice", "Wrong <sum>", "It is wrong.", labels=["bug"])
        server.commit_files(REPO, "topic", {"b.py": "b = 1\nc = 2\n"}, author="alice")
        proposal = Proposal(
            title="Draft: Two", source="topic", target="main", description=TEXT
        )
        server.open_merge_request(REPO, "alice", proposal)
        yield server


def page(fake: FakeGitLab, path: str) -> str:
    said = Caller(fake).fetch("GET", f"{fake.base_url}/{REPO}{path}")
    assert said.status == 200, path
    html = said.body.decode() if isinstance(said.body, bytes) else str(said.body)
    return html.partition("<main>")[2]


def words(html: str) -> str:
    """Return what a reader sees, one space between."""
    return " ".join(
        re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<!--.*?-->", "", html)).split()
    )


def test_a_merge_request_is_readable(fake: FakeGitLab) -> None:
    fake.run_pipeline(REPO, "topic", [Report(name="unit")], "alice")
    fake.award(REPO, 1, "bob", "eyes", kind=MERGE_REQUEST)
    remark = Remark(spot=Spot(path="b.py", line=2, start_line=1), body=SUGGESTION)
    fake.review(REPO, 1, "bob", body="One thing.", remarks=[remark])
    assert words(page(fake, "/-/merge_requests/1")) == (
        "Draft: Two !1 Draft alice requested to merge topic into main "
        "Reviewers bob Merge status draft_status Pipeline failed "
        "Overview Changes "
        "Alice @alice :eyes: Fixes #1 , see !1 and @alice . "
        "☑ Found it ☐ Tested it More a b 1 2 "
        "b.py, lines 1 to 2 · open b = 1 c = 2 "
        f"Bob @bob · {clock(fake, 0)} UTC Better: "
        "Suggested change (1 above, 0 below) c = 3 "
        f"Bob @bob · {clock(fake, 1)} UTC One thing."
    )


def clock(fake: FakeGitLab, place: int) -> str:
    note = fake.comments(REPO, 1, MERGE_REQUEST)[place]
    return note.created_at.strftime("%H:%M:%S")


def test_references_lead_where_they_say(fake: FakeGitLab) -> None:
    html = page(fake, "/-/merge_requests/1")
    root = fake.base_url
    assert f'<a href="{root}/{REPO}/-/issues/1">#1</a>' in html
    assert f'<a href="{root}/{REPO}/-/merge_requests/1">!1</a>' in html
    assert f'<a href="{root}/alice">@alice</a>' in html


def test_an_issue_shows_who_said_what(fake: FakeGitLab) -> None:
    note = fake.comment(REPO, 1, "bob", "Please.")
    fake.edit_comment(note, "bob", "Please, `sum`!")
    fake.comment(REPO, 1, "bob", "Between us.", internal=True)
    fake.close(REPO, 1, "alice")
    html = page(fake, "/-/issues/1")
    assert "<h1>Wrong &lt;sum&gt; <span>#1</span></h1>" in html
    assert "Please, <code>sum</code>!" in html
    seen = words(html)
    assert "Closed alice created this issue Labels bug" in seen
    assert "UTC edited Please," in seen
    assert "UTC internal note Between us." in seen


def test_differences_are_shown(fake: FakeGitLab) -> None:
    assert "+b = 1 +c = 2" in words(page(fake, "/-/merge_requests/1/diffs"))
    sha = fake.merge_requests(REPO)[0].head_sha
    assert "+b = 1" in words(page(fake, f"/-/commit/{sha}"))
    assert "+b = 1" in words(page(fake, "/-/compare/main...topic"))


def test_a_project_lists_its_threads(fake: FakeGitLab) -> None:
    assert words(page(fake, "")) == (
        "Issues and merge requests Draft: Two !1, opened Wrong &lt;sum&gt; #1, opened"
    )


def test_an_upload_of_a_public_project_is_shown(fake: FakeGitLab) -> None:
    address = fake.upload(REPO, "cart.png", b"\x89PNG")
    fake.comment(REPO, 1, "alice", f"![cart]({address})")
    html = page(fake, "/-/issues/1")
    found = re.search(r'<img src="([^"]+)"', html)
    assert found is not None
    assert Caller(fake).fetch("GET", found[1]).body == b"\x89PNG"


def test_what_is_not_there_is_not_found(fake: FakeGitLab) -> None:
    for path in ("/-/issues/9", "/-/commit/main", "/-/compare/main...--output=x"):
        said = Caller(fake).fetch("GET", f"{fake.base_url}/{REPO}{path}")
        assert said.status == 404, path
