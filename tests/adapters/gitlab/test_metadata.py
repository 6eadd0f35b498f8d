"""What is put on a merge request; what is refused is told and stops nothing."""

import pytest

from patchwright.core.forge import PullMetadata, PullRequestText
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.threads import ThreadKind
from patchwright.integrations.gitlab.adapter import GitLab
from tests.adapters.gitlab.conftest import PATH, SHOP
from tests.fakes.gitlab.acts import threads
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.fake import ISSUE, MERGE_REQUEST, FakeGitLab
from tests.fakes.gitlab.seen import MergeRequestSeen
from tests.fakes.gitlab.state import Level

TEXT = PullRequestText(title="Fix", body="", draft=False)


@pytest.fixture
def pull(fake: FakeGitLab, gitlab: GitLab) -> int:
    fake.commit_files(PATH, "bot/fix", {"a.py": "2\n"}, author="ann")
    for login in ("bo", "cy"):
        fake.add_user(login)
        fake.grant(PATH, login, Level.DEVELOPER)
    return gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", TEXT).number


def put(gitlab: GitLab, pull: int, **pull_metadata: object) -> tuple[str, ...]:
    wanted = PullMetadata.model_validate(pull_metadata)
    return gitlab.forge.set_pull_metadata(SHOP, pull, wanted)


def seen(fake: FakeGitLab) -> MergeRequestSeen:
    [found] = fake.merge_requests(PATH)
    return found


def add_milestone(fake: FakeGitLab, title: str) -> int:
    with fake.world.lock:
        return threads.add_milestone(fake.world, fake.world.project(PATH), title).id


def test_everything_is_put_on(fake: FakeGitLab, gitlab: GitLab, pull: int) -> None:
    milestone = add_milestone(fake, "1.0")
    refused = put(
        gitlab,
        pull,
        labels=("bot", "needs review"),
        assignees=("ann",),
        reviewers=("Bo",),
        milestone=milestone,
    )
    assert refused == ()
    found = seen(fake)
    assert (found.labels, found.assignees, found.reviewers) == (
        ("bot", "needs review"),
        ("ann",),
        ("bo",),
    )


def test_a_second_time_nothing_is_written(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    wanted = {"labels": ("bot",), "assignees": ("Ann",), "reviewers": ("bo",)}
    put(gitlab, pull, **wanted)
    done = len(fake.requests)
    assert put(gitlab, pull, **wanted) == ()
    assert {one.method for one in fake.requests[done:]} == {"GET"}


def test_those_who_are_there_already_stay(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    fake.request_review(PATH, pull, ["cy"], "ann")
    assert put(gitlab, pull, reviewers=("bo", "robot")) == ()
    assert seen(fake).reviewers == ("cy", "bo")


def test_who_is_unknown_is_told_and_stops_nobody_else(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    refused = put(
        gitlab,
        pull,
        assignees=("nobody", "ann"),
        reviewers=("team/backend", "nemo", "bo"),
    )
    assert refused == (
        "`nobody` could not be assigned: GitLab knows no such user.",
        "`team/backend` could not be asked to review: GitLab asks people, not groups.",
        "`nemo` could not be asked to review: GitLab knows no such user.",
    )
    assert (seen(fake).assignees, seen(fake).reviewers) == (("ann",), ("bo",))


def test_a_refusal_of_each_thing_is_a_sentence(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    fake.fail_next("PUT", r"/merge_requests/", 403, body={"message": "403 Forbidden"})
    assert put(gitlab, pull, labels=("bot",), assignees=("ann",)) == (
        "The labels `bot` could not be set: GitLab answered 403: 403 Forbidden.",
    )
    assert (seen(fake).labels, seen(fake).assignees) == ((), ("ann",))


def test_the_milestone_of_an_issue_is_put_on_by_its_id(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    number = fake.open_issue(PATH, "ann", "Wrong", "")
    assert gitlab.forge.fetch_milestone(SHOP, number) is None
    milestone = add_milestone(fake, "1.0")
    with fake.world.lock:
        issue = fake.world.thread(PATH, ISSUE, number)
        threads.change(fake.world, issue, issue.author, milestone=milestone)
    assert gitlab.forge.fetch_milestone(SHOP, number) == milestone
    assert put(gitlab, pull, milestone=milestone) == ()


def test_people_are_asked_again_after_their_review(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    fake.request_review(PATH, pull, ["bo", "cy"], "ann")
    fake.review(PATH, pull, "bo", body="No", state="requested_changes")
    assert gitlab.forge.fetch_change_requesters(SHOP, pull) == ("bo",)
    gitlab.forge.request_review(SHOP, pull, ("bo",))
    assert set(seen(fake).reviewers) == {"bo", "cy"}
    asked = [
        one.body
        for one in fake.world.notes.values()
        if one.system and "requested review" in one.body
    ]
    assert asked == ["requested review from @bo and @cy", "requested review from @bo"]


def test_the_last_reviewer_is_asked_again(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    fake.request_review(PATH, pull, ["bo"], "ann")
    gitlab.forge.request_review(SHOP, pull, ("bo",))
    assert seen(fake).reviewers == ("bo",)


def test_nobody_known_to_ask_is_refused(gitlab: GitLab, pull: int) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        gitlab.forge.request_review(SHOP, pull, ("team/backend", "nemo"))
    assert str(caught.value) == (
        "GitLab knows none of `team/backend`, `nemo` as a user"
    )


def test_only_people_who_asked_for_changes_are_told(
    fake: FakeGitLab, gitlab: GitLab, pull: int
) -> None:
    fake.request_review(PATH, pull, ["bo", "cy"], "ann")
    fake.review(PATH, pull, "bo", body="Fine", state="reviewed")
    fake.approve(PATH, pull, "cy")
    assert gitlab.forge.fetch_change_requesters(SHOP, pull) == ()


def test_open_merge_requests_of_others_that_close_an_issue_compete(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    number = fake.open_issue(PATH, "ann", "Wrong", "")
    _, bot = fake.add_project_token(PATH)
    for place, author in enumerate(("ann", bot, "ann")):
        fake.commit_files(PATH, f"fix-{place}", {"a.py": f"{place}\n"}, author="ann")
        wanted = Proposal(
            title="Fix",
            source=f"fix-{place}",
            target="trunk",
            description=f"Closes #{number}" if place < 2 else f"See #{number}",
        )
        fake.open_merge_request(PATH, author, wanted)
    [found] = gitlab.forge.fetch_competing_pulls(SHOP, number)
    assert (found.name, found.author, found.kind) == (
        "!1",
        "ann",
        ThreadKind.MERGE_REQUEST,
    )
    assert found.url == f"{fake.base_url}/{PATH}/-/merge_requests/1"
    fake.close(PATH, 1, "ann", MERGE_REQUEST)
    assert gitlab.forge.fetch_competing_pulls(SHOP, number) == ()
