"""What we write on GitLab: notes, reactions and labels, in its words."""

import pytest

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.gitlab.adapter import GitLab
from tests.adapters.gitlab.conftest import PATH, connect, issue_ref, merge_ref
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.fake import ISSUE, MERGE_REQUEST, FakeGitLab
from tests.fakes.gitlab.state import Level

MARK = "<!-- patchwright:state=running run=r1 -->"


@pytest.fixture
def number(fake: FakeGitLab) -> int:
    return fake.open_issue(PATH, "ann", "Wrong sum", "It is off by one.")


@pytest.fixture
def pull(fake: FakeGitLab) -> ForgeThread:
    fake.commit_files(PATH, "fix", {"a.py": "2\n"}, author="ann")
    wanted = Proposal(title="Fix", source="fix", target="trunk")
    return merge_ref(fake.open_merge_request(PATH, "ann", wanted))


def trigger(
    ref: ForgeThread, post_id: str = "", kind: TriggerKind = TriggerKind.COMMENT_MENTION
) -> Trigger:
    actor = Actor(service="gitlab", login="ann")
    return Trigger(
        key="1", kind=kind, actor=actor, thread=ref, request="", post_id=post_id
    )


def test_one_note_is_posted_found_and_edited_in_place(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    ref = issue_ref(number)
    fake.comment(PATH, number, "ann", f"I have seen {MARK}")
    assert gitlab.channel.find_post(ref, MARK) is None
    post = gitlab.channel.post(ref, f"{MARK}\nThe pull request is on its way.")
    assert gitlab.channel.find_post(ref, MARK) == post
    gitlab.channel.edit(ref, post, f"{MARK}\nPull request !5 is ready.\n\n/close")
    [_, ours] = fake.comments(PATH, number)
    assert (str(ours.id), fake.author_of(ours), ours.body) == (
        post,
        "robot",
        f"{MARK}\nMerge request !5 is ready.\n\n\\/close",
    )
    gitlab.channel.delete(ref, post)
    gitlab.channel.delete(ref, post)
    assert [one.body for one in fake.comments(PATH, number)] == [f"I have seen {MARK}"]


def test_notes_go_to_the_merge_request_of_that_number(
    fake: FakeGitLab, gitlab: GitLab, number: int, pull: ForgeThread
) -> None:
    assert pull.number == number
    post = gitlab.channel.post(pull, "Seen")
    assert gitlab.channel.find_post(pull, "Seen") == post
    assert fake.comments(PATH, number, ISSUE) == []
    assert [one.body for one in fake.comments(PATH, number, MERGE_REQUEST)] == ["Seen"]


def test_in_a_confidential_issue_our_notes_are_internal(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    number = fake.open_issue(PATH, "ann", "Hole", "Here", confidential=True)
    gitlab.channel.post(issue_ref(number), "Looking")
    assert [one.internal for one in fake.comments(PATH, number)] == [True]


def test_for_an_audience_our_notes_are_internal(
    fake: FakeGitLab, gitlab: GitLab, number: int, pull: ForgeThread
) -> None:
    gitlab.channel.post(issue_ref(number).replace(audience="internal"), "Looking")
    gitlab.channel.post(pull.replace(audience="internal"), "Looking")
    gitlab.channel.post(pull, "For all")
    assert [one.internal for one in fake.comments(PATH, number)] == [True]
    shown = fake.comments(PATH, pull.number, MERGE_REQUEST)
    assert [one.internal for one in shown] == [True, False]


def test_reactions_go_to_what_asked(
    fake: FakeGitLab, gitlab: GitLab, number: int, pull: ForgeThread
) -> None:
    note = fake.comment(PATH, number, "ann", "@patchwright fix it")
    ref = issue_ref(number)
    gitlab.channel.acknowledge(trigger(ref, str(note)))
    gitlab.channel.acknowledge(trigger(ref))
    gitlab.channel.decline(trigger(pull))
    gitlab.channel.decline(trigger(ref, str(note), TriggerKind.REPLY))
    assert [one.name for one in fake.reactions(PATH, number, note)] == [
        "eyes",
        "confused",
    ]
    assert [one.name for one in fake.reactions(PATH, number)] == ["eyes"]
    shown = fake.reactions(PATH, pull.number, kind=MERGE_REQUEST)
    assert [one.name for one in shown] == ["thumbsdown"]


def test_the_same_reaction_again_is_no_error_but_a_lost_note_is(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    note = fake.comment(PATH, number, "ann", "@patchwright fix it")
    asked = trigger(issue_ref(number), str(note))
    gitlab.channel.acknowledge(asked)
    gitlab.channel.acknowledge(asked)
    assert len(fake.reactions(PATH, number, note)) == 1
    fake.delete_comment(note)
    with pytest.raises(NotFoundError):
        gitlab.channel.acknowledge(asked)


def test_labels_are_swapped_in_their_colours(
    fake: FakeGitLab, gitlab: GitLab, number: int, pull: ForgeThread
) -> None:
    fake.label(PATH, number, "bug", "ann")
    fake.label(PATH, number, "patchwright", "ann")
    for ref in (issue_ref(number), pull):
        gitlab.channel.swap_labels(ref, ("patchwright:running",), ("patchwright",))
    assert fake.thread(PATH, number).labels == ("bug", "patchwright:running")
    assert fake.thread(PATH, pull.number, MERGE_REQUEST).labels == (
        "patchwright:running",
    )
    made = {one.name: one.color for one in fake.world.labels.values()}
    assert made["patchwright:running"] == "#fbca04"


def test_labels_that_are_so_already_take_no_change(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    fake.label(PATH, number, "bug", "ann")
    done = len(fake.requests)
    gitlab.channel.swap_labels(issue_ref(number), ("bug",), ("patchwright",))
    assert {one.method for one in fake.requests[done:]} == {"GET"}


def test_nothing_can_be_said_in_private(gitlab: GitLab, number: int) -> None:
    actor = Actor(service="gitlab", login="ann")
    with pytest.raises(InvalidRequestError) as caught:
        gitlab.channel.tell_privately(issue_ref(number), actor, "Psst")
    assert str(caught.value) == "nothing can be said to ann alone here"


def test_a_note_of_somebody_else_is_not_ours_to_change(
    fake: FakeGitLab, gitlab: GitLab, number: int
) -> None:
    note = fake.comment(PATH, number, "ann", "Mine")
    with pytest.raises(PermissionDeniedError):
        gitlab.channel.edit(issue_ref(number), str(note), "Ours")


def test_a_locked_discussion_refuses_who_is_no_member(
    fake: FakeGitLab, number: int
) -> None:
    outside = connect(fake, fake.add_user("out"))
    fake.lock(PATH, number, "ann")
    with pytest.raises(PermissionDeniedError):
        outside.channel.post(issue_ref(number), "Hello")
    outside.close()


def test_a_project_access_token_is_a_bot_of_its_own(
    fake: FakeGitLab, number: int
) -> None:
    token, name = fake.add_project_token(PATH, Level.DEVELOPER)
    ours = connect(fake, token)
    post = ours.channel.post(issue_ref(number), "Beep")
    assert ours.channel.find_post(issue_ref(number), "Beep") == post
    assert (ours.fetch_identity().login, ours.fetch_identity().is_bot) == (name, True)
    ours.close()
