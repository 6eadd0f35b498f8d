"""What people write into our pull request stays."""

import pytest

from patchwright.core.forge import PullRequestText
from patchwright.core.types.threads import PullRequest
from patchwright.resolver.messages.pull_request_body import (
    MAX_CHARS,
    PeoplesText,
    combine_texts,
    find_peoples_text,
    mark_own_text,
)

FIRST = mark_own_text(
    PullRequestText(title="Fix it", body="The first try.", draft=True)
)
SECOND = mark_own_text(
    PullRequestText(title="Fix it well", body="The second.", draft=False)
)


def shown(body: str, title: str = "Fix it") -> PullRequest:
    return PullRequest(
        number=3,
        url="",
        head_branch="b",
        base_branch="main",
        head_sha="c",
        draft=True,
        same_repository=True,
        title=title,
        body=body,
    )


def updated(body: str, title: str = "Fix it") -> PullRequestText:
    return combine_texts(SECOND, find_peoples_text(shown(body, title)))


def test_our_own_text_is_replaced() -> None:
    assert updated(FIRST.body) == SECOND
    assert find_peoples_text(shown(FIRST.body)) == PeoplesText()


def test_what_people_write_around_it_stays() -> None:
    body = f"Please look, @bo.\n\n{FIRST.body}\n\nSee also #9."
    assert updated(body).body == f"Please look, @bo.\n\n{SECOND.body}\n\nSee also #9."


def test_line_ends_of_a_browser_are_no_edit() -> None:
    body = f"Hello.\n\n{FIRST.body}".replace("\n", "\r\n")
    assert updated(body).body == f"Hello.\n\n{SECOND.body}"


def test_what_people_write_into_it_stays() -> None:
    body = FIRST.body.replace("first try", "first try, and a bold one")
    text = updated(body)
    assert text.body == f"The first try, and a bold one.\n\n{SECOND.body}"
    assert updated(text.body).body == text.body


@pytest.mark.parametrize("body", ["", "All my own words.", "<!-- patchwright:end -->"])
def test_a_text_without_our_marks_is_theirs(body: str) -> None:
    assert updated(body).body == f"{body}\n\n{SECOND.body}".strip()


def test_a_title_that_people_chose_stays() -> None:
    assert updated(FIRST.body, "Fix the sum of the cart").title == (
        "Fix the sum of the cart"
    )
    assert updated(FIRST.body).title == "Fix it well"


def test_r8_where_both_are_too_long_theirs_counts() -> None:
    theirs = "x" * (MAX_CHARS - 10)
    assert updated(f"{theirs}\n\n{FIRST.body}").body == theirs


def test_s45_the_marks_are_invisible() -> None:
    lines = FIRST.body.splitlines()
    assert lines[0].startswith("<!-- patchwright:body ")
    assert lines[-1] == "<!-- patchwright:end -->"
    assert lines[1] == lines[-2] == ""


def test_what_a_forge_says_in_its_own_words_is_ours_still() -> None:
    said = "This pull request. Pull requests!\n\n/close\n\nA merge request."
    marked = mark_own_text(PullRequestText(title="Fix", body=said, draft=False))
    there = marked.body.replace("pull r", "merge r").replace("Pull", "Merge")
    there = there.replace("\n/close", "\n\\/close")
    assert there != marked.body
    assert find_peoples_text(shown(there, title="Fix")) == PeoplesText()
