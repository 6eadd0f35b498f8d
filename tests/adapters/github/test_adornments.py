"""What is put on a pull request; what is refused is told and stops nothing."""

import pytest

from patchwright.core.forge import PullMetadata, PullRequestText
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP, connect
from tests.fakes.github.acts import adorning
from tests.fakes.github.fake import FakeGitHub

TEXT = PullRequestText(title="Fix", body="", draft=False)


@pytest.fixture
def pull(fake: FakeGitHub, as_app: GitHub) -> int:
    fake.commit_files("acme/shop", "bot/fix", {"a.py": "2\n"}, author="ann")
    for login in ("bo", "cy"):
        fake.add_user(login)
        fake.grant("acme/shop", login, "write")
    return as_app.forge.open_pull_request(SHOP, "bot/fix", "trunk", TEXT).number


def put(github: GitHub, pull: int, **pull_metadata: object) -> tuple[str, ...]:
    wanted = PullMetadata.model_validate(pull_metadata)
    return github.forge.set_pull_metadata(SHOP, pull, wanted)


def awaited(fake: FakeGitHub, pull: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = adorning.awaited(fake.world, fake.issue("acme/shop", pull))
    return found.people, found.teams


def test_everything_is_put_on(fake: FakeGitHub, as_app: GitHub, pull: int) -> None:
    adorning.add_team(fake.world, "acme/shop", "backend")
    milestone = adorning.add_milestone(fake.world, "acme/shop", "1.0")
    refused = put(
        as_app,
        pull,
        labels=("bot", "needs review"),
        assignees=("ann",),
        reviewers=("bo", "team/backend"),
        milestone=milestone,
    )
    assert refused == ()
    seen = fake.issue("acme/shop", pull)
    assert (seen.labels, seen.assignees) == (("bot", "needs review"), ("ann",))
    assert seen.milestone == milestone
    assert awaited(fake, pull) == (("bo",), ("backend",))


def test_a_second_time_nothing_is_written(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    wanted = {"labels": ("bot",), "assignees": ("Ann",), "reviewers": ("bo",)}
    put(as_app, pull, **wanted)
    done = len(fake.requests)
    assert put(as_app, pull, **wanted) == ()
    assert {seen.method for seen in fake.requests[done:]} == {"GET"}


def test_a_milestone_that_people_chose_stays(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    for title in ("1.0", "2.0"):
        adorning.add_milestone(fake.world, "acme/shop", title)
    adorning.set_milestone(fake.world, "acme/shop", pull, 2)
    put(as_app, pull, milestone=1)
    assert fake.issue("acme/shop", pull).milestone == 2


def test_a_reviewer_who_may_not_does_not_keep_the_others_out(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    fake.add_user("stranger")
    refused = put(as_app, pull, reviewers=("stranger", "bo", "team/none", "cy"))
    assert awaited(fake, pull) == (("bo", "cy"), ())
    assert [
        line.partition(" could not be asked to review: ")[0] for line in refused
    ] == [
        "`stranger`",
        "`team/none`",
    ]
    assert "Reviews may only be requested from collaborators" in refused[0]


def test_the_author_is_never_asked(fake: FakeGitHub, pull: int) -> None:
    github = connect(fake, fake.add_user("robot"))
    fake.grant("acme/shop", "robot", "write")
    fake.commit_files("acme/shop", "bot/two", {"a.py": "3\n"}, author="robot")
    own = github.forge.open_pull_request(SHOP, "bot/two", "trunk", TEXT).number
    refused = put(github, own, reviewers=("robot",))
    github.close()
    assert refused == ()
    assert awaited(fake, own) == ((), ())
    assert pull != own


def test_whom_github_leaves_out_without_a_word_is_told(
    fake: FakeGitHub, as_app: GitHub, pull: int
) -> None:
    fake.add_user("stranger")
    assert put(as_app, pull, assignees=("stranger", "ann")) == (
        "`stranger` could not be assigned: GitHub does not allow it.",
    )
    assert fake.issue("acme/shop", pull).assignees == ("ann",)


def test_a_bot_without_the_right_leaves_a_remark(fake: FakeGitHub, pull: int) -> None:
    token = fake.add_user("reader")
    github = connect(fake, token)
    refused = put(github, pull, labels=("bot",), reviewers=("bo",))
    github.close()
    why = "GitHub answered 403: Must have admin rights to Repository."
    assert refused == (
        f"The labels `bot` could not be set: {why}",
        f"`bo` could not be asked to review: {why}",
    )


def test_the_milestone_of_an_issue_is_read(fake: FakeGitHub, as_app: GitHub) -> None:
    number = fake.open_issue("acme/shop", "ann", "Wrong", "")
    assert as_app.forge.fetch_milestone(SHOP, number) is None
    milestone = adorning.add_milestone(fake.world, "acme/shop", "1.0")
    adorning.set_milestone(fake.world, "acme/shop", number, milestone)
    assert as_app.forge.fetch_milestone(SHOP, number) == milestone
