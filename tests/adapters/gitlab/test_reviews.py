"""Discussions on lines are read whole, answered in place, and resolved."""

import pytest

from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.threads import DiffSide, ForgeThread
from patchwright.integrations.gitlab.adapter import GitLab
from tests.adapters.gitlab.conftest import PATH, merge_ref
from tests.fakes.gitlab.acts.merges import Proposal, Remark, Spot
from tests.fakes.gitlab.fake import MERGE_REQUEST, FakeGitLab
from tests.fakes.gitlab.thread_state import Note

BEFORE = "".join(f"{number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("10\n", "ten\n")
SUGGESTION = "Better:\n\n```suggestion:-0+0\nTen\n```"


@pytest.fixture
def pull(fake: FakeGitLab) -> ForgeThread:
    fake.add_user("bob")
    fake.commit_files(PATH, "trunk", {"n.txt": BEFORE}, author="ann")
    fake.commit_files(PATH, "fix", {"n.txt": AFTER}, author="ann")
    wanted = Proposal(title="Fix", source="fix", target="trunk", description="See")
    return merge_ref(fake.open_merge_request(PATH, "ann", wanted))


def remark(
    fake: FakeGitLab,
    pull: ForgeThread,
    body: str,
    line: int = 10,
    start_line: int | None = None,
    *,
    is_old: bool = False,
) -> Note:
    spot = Spot(path="n.txt", line=line, start_line=start_line, is_old=is_old)
    [made] = fake.review(
        PATH, pull.number, "bob", remarks=[Remark(spot=spot, body=body)]
    )
    return fake.world.notes[made]


def answer(fake: FakeGitLab, pull: ForgeThread, begun: Note, body: str) -> int:
    return fake.comment(
        PATH,
        pull.number,
        "ann",
        body,
        kind=MERGE_REQUEST,
        discussion=begun.discussion,
    )


def test_s43_a_discussion_has_its_place_its_code_and_all_notes(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    begun = remark(fake, pull, SUGGESTION, start_line=9)
    answer(fake, pull, begun, "It reads better.")
    thread = gitlab.channel.fetch_thread(pull)
    [found] = thread.reviews
    assert (found.path, found.first_line, found.line) == ("n.txt", 9, 10)
    assert found.id == begun.discussion
    assert found.side is DiffSide.NEW
    assert found.hunk == "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten"
    assert (found.is_resolved, found.is_outdated) == (False, False)
    assert [(post.author.login, post.text) for post in found.posts] == [
        ("bob", "Better:\n\nSuggested in place of line 10:\n\n```\nTen\n```"),
        ("ann", "It reads better."),
    ]
    assert [post.text for post in thread.posts] == ["See"]


def test_s43_a_line_that_was_removed_is_of_the_old_version(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    remark(fake, pull, "Why not this?", is_old=True)
    [found] = gitlab.channel.fetch_thread(pull).reviews
    assert (found.side, found.line) == (DiffSide.OLD, 10)
    assert found.hunk == "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10"


def test_s43_resolved_and_outdated_discussions_are_marked(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    settled = remark(fake, pull, "Settled")
    remark(fake, pull, "Open")
    gitlab.channel.resolve_review(pull, settled.discussion)
    fake.commit_files(PATH, "fix", {"n.txt": AFTER + "21\n"}, author="ann")
    remark(fake, pull, "New")
    found = gitlab.channel.fetch_thread(pull).reviews
    assert [(o.posts[0].text, o.is_resolved, o.is_outdated) for o in found] == [
        ("Settled", True, True),
        ("Open", False, True),
        ("New", False, False),
    ]
    assert all(one.hunk.endswith("+ten") for one in found)


def test_notes_of_one_review_have_its_id_and_others_do_not(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    spots = [Spot(path="n.txt", line=line) for line in (9, 10)]
    remarks = [Remark(spot=spot, body="Hm") for spot in spots]
    fake.review(PATH, pull.number, "bob", body="Look", remarks=remarks)
    thread = gitlab.channel.fetch_thread(pull)
    ids = {post.review_id for one in thread.reviews for post in one.posts}
    assert len(ids) == 1
    assert "" not in ids
    assert [(post.text, post.review_id) for post in thread.posts] == [
        ("See", ""),
        ("Look", ""),
    ]


def test_our_answer_stands_in_the_discussion_once_and_can_be_taken_back(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    begun = remark(fake, pull, "Why?")
    answer(fake, pull, begun, "mark-1 by somebody else")
    channel, discussion = gitlab.channel, begun.discussion
    assert channel.find_review_answer(pull, discussion, "mark-1") is None
    made = channel.answer_review(pull, discussion, "This pull request says. mark-1")
    assert channel.find_review_answer(pull, discussion, "mark-1") == made
    [found] = channel.fetch_thread(pull).reviews
    assert found.posts[-1].text == "This merge request says. mark-1"
    channel.delete_review_answer(pull, made)
    assert channel.find_review_answer(pull, discussion, "mark-1") is None


def test_an_answer_to_an_internal_discussion_is_internal(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    number = fake.comment(
        PATH, pull.number, "ann", "Between us", kind=MERGE_REQUEST, internal=True
    )
    discussion = fake.world.notes[number].discussion
    gitlab.channel.answer_review(pull, discussion, "Yes")
    shown = fake.comments(PATH, pull.number, MERGE_REQUEST)
    assert [one.internal for one in shown] == [True, True]


def test_a_lost_discussion_is_not_found(gitlab: GitLab, pull: ForgeThread) -> None:
    with pytest.raises(NotFoundError):
        gitlab.channel.answer_review(pull, "f" * 40, "Hello")
    with pytest.raises(NotFoundError):
        gitlab.channel.resolve_review(pull, "f" * 40)


def test_without_the_commits_the_hunk_is_empty(
    fake: FakeGitLab, gitlab: GitLab, pull: ForgeThread
) -> None:
    remark(fake, pull, "Why?")
    fake.fail_next("GET", r"/compare$", 404, body={"message": "404 Not Found"})
    [found] = gitlab.channel.fetch_thread(pull).reviews
    assert (found.line, found.hunk) == (10, "")
