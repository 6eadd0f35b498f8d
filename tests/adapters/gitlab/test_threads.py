"""Each text of a thread is read with its author, their role, its times and its kind."""

import pytest

from patchwright.core.types.errors import NotFoundError
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.threads import MAX_PAGES
from tests.adapters.gitlab.conftest import PATH, issue_ref, merge_ref
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.acts.notes import Words, write_note
from tests.fakes.gitlab.fake import ISSUE, FakeGitLab
from tests.fakes.gitlab.state import Level


@pytest.fixture
def number(fake: FakeGitLab) -> int:
    return fake.open_issue(PATH, "ann", "Wrong sum", "It is off by one.")


def write_many(fake: FakeGitLab, number: int, count: int) -> None:
    with fake.world.lock:
        ann = fake.world.user("ann").id
        for place in range(count):
            thread = fake.world.thread(PATH, ISSUE, number)
            write_note(fake.world, thread, ann, Words(body=f"Comment {place}"))


def test_an_issue_is_read_whole(fake: FakeGitLab, gitlab: GitLab, number: int) -> None:
    fake.add_user("eve")
    fake.comment(PATH, number, "eve", "Me too")
    thread = gitlab.channel.fetch_thread(issue_ref(number))
    assert (thread.title, thread.url, thread.unread) == (
        "Wrong sum",
        f"{fake.base_url}/{PATH}/-/issues/{number}",
        0,
    )
    assert [(p.author.login, p.role, p.text, p.label) for p in thread.posts] == [
        ("ann", "developer", "It is off by one.", ""),
        ("eve", "", "Me too", ""),
    ]
    assert all(post.author.external_id.isdigit() for post in thread.posts)


def test_issues_and_merge_requests_are_counted_apart(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.commit_files(PATH, "fix", {"a.py": "2\n"}, author="ann")
    pull = fake.open_merge_request(
        PATH, "ann", Proposal(title="Fix", source="fix", target="trunk")
    )
    assert pull == number == 1
    found = [gitlab.channel.fetch_opening(ref) for ref in (issue_ref(1), merge_ref(1))]
    assert [(one.title, one.ref.name) for one in found] == [
        ("Wrong sum", "#1"),
        ("Fix", "!1"),
    ]


def test_what_gitlab_itself_notes_is_left_out(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.close(PATH, number, "ann")
    fake.edit(PATH, number, "ann", title="Wrong total")
    fake.comment(PATH, number, "ann", "Still wrong")
    thread = gitlab.channel.fetch_thread(issue_ref(number))
    assert [post.text for post in thread.posts] == ["It is off by one.", "Still wrong"]


def test_an_edited_description_is_told_and_nothing_else_is_taken_for_one(
    fake: FakeGitLab, gitlab: GitLab, number: int, clock: FakeClock
) -> None:
    fake.label(PATH, number, "bug", "ann")
    fake.comment(PATH, number, "ann", "First")
    for read in (gitlab.channel.fetch_thread, gitlab.channel.fetch_opening):
        assert read(issue_ref(number)).posts[0].edited_at is None
    clock.advance(1)
    fake.edit(PATH, number, "ann", body="It is off by two.")
    for read in (gitlab.channel.fetch_thread, gitlab.channel.fetch_opening):
        opening = read(issue_ref(number)).posts[0]
        assert opening.text == "It is off by two."
        assert opening.edited_at is not None
        assert opening.edited_at > opening.at


def test_an_edited_note_is_told(
    fake: FakeGitLab, gitlab: GitLab, number: int, clock: FakeClock
) -> None:
    note = fake.comment(PATH, number, "ann", "First")
    fake.comment(PATH, number, "ann", "Second")
    clock.advance(1)
    fake.edit_comment(note, "ann", "First, changed")
    posts = gitlab.channel.fetch_thread(issue_ref(number)).posts[1:]
    assert [(post.text, post.edited_at is not None) for post in posts] == [
        ("First, changed", True),
        ("Second", False),
    ]


def test_internal_notes_are_read_where_the_answer_is_one_and_called_so(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.comment(PATH, number, "ann", "For us alone", internal=True)
    ref = issue_ref(number)
    posts = gitlab.channel.fetch_thread(ref.replace(audience="internal")).posts
    assert [post.label for post in posts] == ["", "internal note"]
    assert len(gitlab.channel.fetch_thread(ref).posts) == len(["the opening text"])


def test_bots_are_told_by_their_names(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    _, bot = fake.add_project_token(PATH)
    fake.comment(PATH, number, bot, "Beep")
    posts = gitlab.channel.fetch_thread(issue_ref(number)).posts
    assert [post.author.is_bot for post in posts] == [False, True]


def test_c1_three_hundred_notes_are_read_in_order(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    write_many(fake, number, 300)
    thread = gitlab.channel.fetch_thread(issue_ref(number))
    assert [post.text for post in thread.posts[1:]] == [
        f"Comment {place}" for place in range(300)
    ]
    assert thread.unread == 0


def test_c1_of_a_thread_without_end_the_newest_are_read(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    write_many(fake, number, MAX_PAGES * 100 + 7)
    thread = gitlab.channel.fetch_thread(issue_ref(number))
    assert thread.posts[0].text == "It is off by one."
    assert thread.posts[1].text == "Comment 7"
    assert thread.unread == 7


def test_roles_that_may_not_be_read_are_not_told(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.fail_next("GET", r"/members/all$", 403, body={"message": "403 Forbidden"})
    [opening] = gitlab.channel.fetch_thread(issue_ref(number)).posts
    assert opening.role == ""


def test_a_role_of_an_invited_group_is_told(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.add_user("kim")
    fake.grant("guests", "kim", Level.MAINTAINER)
    fake.share(PATH, "guests", Level.REPORTER)
    fake.comment(PATH, number, "kim", "Seen")
    posts = gitlab.channel.fetch_thread(issue_ref(number)).posts
    assert posts[-1].role == "reporter"


def test_a_thread_that_is_not_there_is_not_found(gitlab: GitLab) -> None:
    with pytest.raises(NotFoundError):
        gitlab.channel.fetch_thread(issue_ref(99))
    with pytest.raises(NotFoundError):
        gitlab.channel.fetch_opening(merge_ref(99))


def test_c4_addresses_of_uploads_lead_to_the_project(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    address = fake.upload(PATH, "a b.png", b"picture")
    number = fake.open_issue(PATH, "ann", "Wrong", f"See ![shot]({address}).")
    [opening] = gitlab.channel.fetch_thread(issue_ref(number)).posts
    assert opening.text == f"See ![shot]({fake.base_url}/{PATH}{address})."
