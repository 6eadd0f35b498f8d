"""Projects, files, branches and merge requests, as GitLab has them."""

from pathlib import Path

import pytest

from patchwright.core.forge import PullRequestText
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
    ThreadKind,
)
from patchwright.integrations.git.remote import Remote, fetch_refs
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.settings import FORMS
from tests.adapters.git.workshop import WorkTree
from tests.adapters.gitlab.conftest import PATH, SHOP, connect
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level, Visibility

DRAFT = PullRequestText(title="Fix the sum", body="This pull request does.", draft=True)
READY = DRAFT.replace(draft=False)


@pytest.fixture
def branch(fake: FakeGitLab) -> str:
    return fake.commit_files(PATH, "bot/fix", {"a.py": "2\n"}, author="ann")


def test_a_project_is_read(fake: FakeGitLab, gitlab: GitLab) -> None:
    number = fake.world.project(PATH).id
    assert gitlab.forge.fetch_repository(SHOP) == Repository(
        ref=SHOP,
        default_branch="trunk",
        clone_url=f"{fake.base_url}/{PATH}.git",
        web_url=f"{fake.base_url}/{PATH}",
        private=False,
        id=str(number),
        forms=FORMS,
    )


@pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.INTERNAL])
def test_what_is_not_for_everybody_counts_as_private(
    fake: FakeGitLab, gitlab: GitLab, visibility: Visibility
) -> None:
    fake.add_project("acme/inside", visibility=visibility)
    inside = RepoRef(forge="gitlab", full_name="acme/inside")
    assert gitlab.forge.fetch_repository(inside).private


def test_a_project_by_its_former_name_tells_the_new_one(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    fake.grant("acme", "ann", Level.OWNER)
    fake.move_project(PATH, "acme/store", "ann")
    found = gitlab.forge.fetch_repository(SHOP)
    assert found.ref.full_name == "acme/store"
    assert found.clone_url == f"{fake.base_url}/acme/store.git"


def test_a_merge_request_is_opened_as_a_draft_and_made_ready(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    opened = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", DRAFT)
    assert opened == PullRequest(
        kind=ThreadKind.MERGE_REQUEST,
        number=1,
        url=f"{fake.base_url}/{PATH}/-/merge_requests/1",
        head_repo=SHOP,
        head_branch="bot/fix",
        base_branch="trunk",
        head_sha=branch,
        draft=True,
        same_repository=True,
        conflicts=opened.conflicts,
        author="robot",
        title="Fix the sum",
        body="This merge request does.",
    )
    [seen] = fake.merge_requests(PATH)
    assert (seen.title, seen.draft) == ("Draft: Fix the sum", True)
    ready = gitlab.forge.update_pull_request(SHOP, 1, READY)
    assert (ready.title, ready.draft) == ("Fix the sum", False)
    [seen] = fake.merge_requests(PATH)
    assert (seen.title, seen.draft) == ("Fix the sum", False)


def test_a_second_one_from_the_same_branch_updates_the_first(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    first = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", DRAFT)
    again = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", READY)
    assert (again.number, again.draft, again.head_sha) == (first.number, False, branch)
    assert len(fake.merge_requests(PATH)) == 1


def test_the_one_of_a_branch_is_found_while_it_is_open(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    assert gitlab.forge.find_pull_request(SHOP, "bot/fix") is None
    opened = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", READY)
    found = gitlab.forge.find_pull_request(SHOP, "bot/fix")
    assert found is not None
    assert (found.number, found.head_sha) == (opened.number, branch)
    fake.merge(PATH, opened.number, "ann")
    assert gitlab.forge.find_pull_request(SHOP, "bot/fix") is None
    merged = gitlab.forge.fetch_pull_request(SHOP, opened.number)
    assert (merged.is_open, merged.is_merged) == (False, True)


def test_a_branch_of_the_same_name_in_a_fork_is_not_ours(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    assert branch
    fork = fake.fork(PATH, "ann")
    fake.commit_files(fork, "bot/fix", {"a.py": "3\n"}, author="ann")
    theirs = Proposal(title="Theirs", source="bot/fix", target="trunk", fork=fork)
    fake.open_merge_request(PATH, "ann", theirs)
    assert gitlab.forge.find_pull_request(SHOP, "bot/fix") is None


@pytest.mark.parametrize("allowed", [True, False])
def test_a_merge_request_from_a_fork_tells_where_it_is_and_who_may_push(
    fake: FakeGitLab, gitlab: GitLab, *, allowed: bool
) -> None:
    fork = fake.fork(PATH, "ann")
    sha = fake.commit_files(fork, "mine", {"a.py": "3\n"}, author="ann")
    number = fake.open_merge_request(
        PATH,
        "ann",
        Proposal(
            title="Mine",
            source="mine",
            target="trunk",
            fork=fork,
            allow_collaboration=allowed,
        ),
    )
    found = gitlab.forge.fetch_pull_request(SHOP, number)
    assert (found.same_repository, found.maintainers_may_push) == (False, allowed)
    assert found.head_repo == RepoRef(forge="gitlab", full_name=fork)
    assert (found.head_sha, found.author) == (sha, "ann")


def test_the_head_of_a_fork_is_fetched_from_the_project(
    fake: FakeGitLab, gitlab: GitLab, tmp_path: Path
) -> None:
    fork = fake.fork(PATH, "ann")
    sha = fake.commit_files(fork, "mine", {"a.py": "3\n"}, author="ann")
    wanted = Proposal(title="Mine", source="mine", target="trunk", fork=fork)
    number = fake.open_merge_request(PATH, "ann", wanted)
    repository = gitlab.forge.fetch_repository(SHOP)
    tree = WorkTree.start(tmp_path / "work", "trunk")
    ref = repository.forms.head_ref(number)
    credential = gitlab.forge.mint_credential(SHOP)
    fetch_refs(tree.objects.git, Remote(repository.clone_url, credential), [ref])
    assert tree.git("rev-parse", ref).strip() == sha


def test_conflicts_are_told_when_gitlab_knows(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    assert branch
    opened = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", READY)
    assert gitlab.forge.fetch_pull_request(SHOP, opened.number).conflicts is False
    fake.ponder(PATH, opened.number, times=1)
    assert gitlab.forge.fetch_pull_request(SHOP, opened.number).conflicts is None
    fake.commit_files(PATH, "trunk", {"a.py": "3\n"}, author="ann")
    found = gitlab.forge.fetch_pull_request(SHOP, opened.number)
    assert found.conflicts is True


def test_missing_approvals_are_no_conflict(
    fake: FakeGitLab, gitlab: GitLab, branch: str
) -> None:
    assert branch
    fake.require_approvals(PATH, 2)
    opened = gitlab.forge.open_pull_request(SHOP, "bot/fix", "trunk", READY)
    assert gitlab.forge.fetch_pull_request(SHOP, opened.number).conflicts is False


def test_files_are_read_byte_for_byte(fake: FakeGitLab, gitlab: GitLab) -> None:
    fake.commit_files(PATH, "trunk", {"d/e f.bin": b"\x00\xff\r\n"}, author="ann")
    fake.commit_files(PATH, "other", {"a.py": "2\n"}, author="ann")
    assert gitlab.forge.fetch_file(SHOP, "d/e f.bin") == b"\x00\xff\r\n"
    assert gitlab.forge.fetch_file(SHOP, "a.py", "other") == b"2\n"
    assert gitlab.forge.fetch_file(SHOP, "a.py") == b"1\n"
    assert gitlab.forge.fetch_file(SHOP, "d") is None
    assert gitlab.forge.fetch_file(SHOP, "none") is None
    assert gitlab.forge.fetch_file(SHOP, "a.py", "lost") is None


def test_a_file_of_more_than_a_megabyte_is_refused(
    fake: FakeGitLab, gitlab: GitLab
) -> None:
    fake.commit_files(PATH, "trunk", {"big": b"x" * 1_000_001}, author="ann")
    with pytest.raises(InvalidRequestError) as caught:
        gitlab.forge.fetch_file(SHOP, "big")
    assert str(caught.value) == "big is larger than a megabyte"


def test_branches_and_commits_are_known(gitlab: GitLab, branch: str) -> None:
    assert gitlab.forge.has_branch(SHOP, "bot/fix")
    assert not gitlab.forge.has_branch(SHOP, "bot/none")
    commits = gitlab.forge.commits
    assert commits.fetch_commit_message(SHOP, branch[:10]) == "Change files"
    assert commits.fetch_commit_message(SHOP, "f" * 40) is None


def test_a_merge_request_without_its_branches_is_refused(
    gitlab: GitLab, branch: str
) -> None:
    assert branch
    with pytest.raises(InvalidRequestError) as caught:
        gitlab.forge.open_pull_request(SHOP, "bot/fix", "lost", READY)
    assert "target_branch" in str(caught.value)


def test_a_guest_opens_no_merge_request(fake: FakeGitLab, branch: str) -> None:
    assert branch
    fake.add_project("acme/hidden", visibility=Visibility.PRIVATE)
    token = fake.add_user("low")
    fake.grant(PATH, "low", Level.GUEST)
    low = connect(fake, token)
    with pytest.raises(PermissionDeniedError):
        low.forge.open_pull_request(SHOP, "bot/fix", "trunk", READY)
    with pytest.raises(NotFoundError):
        low.forge.fetch_repository(RepoRef(forge="gitlab", full_name="acme/hidden"))
    low.close()
