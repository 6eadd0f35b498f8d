"""GitHub makes and signs a commit, exactly or not at all."""

import pytest
from graphql import build_schema, parse, validate

from patchwright.core.forge import FileChange, NewCommit
from patchwright.core.types.errors import (
    BranchMovedError,
    CommitDiffersError,
    PushRefusedError,
    ServiceUnavailableError,
)
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.commits import MUTATION
from tests.adapters.github.conftest import SHOP
from tests.fakes.github import bare
from tests.fakes.github.acts.rules import is_signed, set_rules
from tests.fakes.github.contract import corpus_folder
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.rule_state import Rules

BRANCH = "bot/fix"
GRAPHQL = r"^/graphql$"


def base(fake: FakeGitHub) -> str:
    return head(fake, "trunk")


def head(fake: FakeGitHub, branch: str) -> str:
    found = bare.find_commit(fake.git_folder("acme/shop"), f"refs/heads/{branch}")
    assert found is not None
    return found


def exists(fake: FakeGitHub, branch: str) -> bool:
    return bool(bare.find_commit(fake.git_folder("acme/shop"), f"refs/heads/{branch}"))


def wanted(fake: FakeGitHub) -> NewCommit:
    """Return a change, with the tree that git itself makes of it."""
    files: dict[str, bare.Content] = {"a.py": None, "b/ü.bin": b"\x00\xff\r\n"}
    sha = fake.commit_files("acme/shop", "scratch", files)
    tree = bare.git(fake.git_folder("acme/shop"), "rev-parse", f"{sha}^{{tree}}")
    return NewCommit(
        base_sha=base(fake),
        tree=tree.decode().strip(),
        message="Move it\n\nThe body.\n\nCo-authored-by: ann <ann@example.test>",
        changes=(
            FileChange(path="b/ü.bin", data=b"\x00\xff\r\n"),
            FileChange(path="a.py", data=None),
        ),
    )


def test_s36_a_commit_is_made_on_a_new_branch_and_signed(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake)
    sha = as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    assert sha == head(fake, BRANCH)
    repo = fake.world.repo("acme/shop")
    assert is_signed(repo, sha)
    shown = bare.git(repo.git, "show", "-s", "--format=%T %P%n%B", sha).decode()
    assert shown.strip() == f"{commit.tree} {commit.base_sha}\n{commit.message}"


def test_the_same_commit_is_made_once(fake: FakeGitHub, as_app: GitHub) -> None:
    commit = wanted(fake)
    first = as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    assert as_app.forge.commit_on_branch(SHOP, BRANCH, commit) == first
    assert head(fake, BRANCH) == first


def test_a_commit_whose_answer_was_lost_is_found_again(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake)
    made = as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    fake.fail_next("POST", GRAPHQL, 502)
    assert as_app.forge.commit_on_branch(SHOP, BRANCH, commit) == made


def test_a_branch_that_exists_gets_the_commit(fake: FakeGitHub, as_app: GitHub) -> None:
    commit = wanted(fake)
    git = fake.git_folder("acme/shop")
    bare.git(git, "update-ref", f"refs/heads/{BRANCH}", commit.base_sha)
    assert as_app.forge.commit_on_branch(SHOP, BRANCH, commit) == head(fake, BRANCH)


def test_somebodys_newer_commit_is_not_built_upon(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake)
    theirs = fake.commit_files("acme/shop", BRANCH, {"c.py": "theirs\n"})
    with pytest.raises(BranchMovedError):
        as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    assert head(fake, BRANCH) == theirs


def test_a_push_in_between_is_noticed_by_github(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    stale = {
        "data": {"createCommitOnBranch": None},
        "errors": [
            {
                "type": "STALE_DATA",
                "message": 'Expected branch to point to "abc" but it did not.  Pull '
                "and try again.",
            }
        ],
    }
    fake.fail_next("POST", GRAPHQL, 200, body=stale)
    with pytest.raises(BranchMovedError):
        as_app.forge.commit_on_branch(SHOP, BRANCH, wanted(fake))


def test_s27_a_commit_with_other_files_is_removed_with_its_branch(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake).replace(tree="0" * 40)
    with pytest.raises(CommitDiffersError):
        as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    assert not exists(fake, BRANCH)


def test_s27_an_existing_branch_goes_back_to_its_old_commit(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake).replace(tree="0" * 40)
    git = fake.git_folder("acme/shop")
    bare.git(git, "update-ref", f"refs/heads/{BRANCH}", commit.base_sha)
    with pytest.raises(CommitDiffersError):
        as_app.forge.commit_on_branch(SHOP, BRANCH, commit)
    assert head(fake, BRANCH) == commit.base_sha


def test_a_branch_is_not_left_empty_where_the_commit_fails(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.fail_next("POST", GRAPHQL, 502)
    with pytest.raises(ServiceUnavailableError):
        as_app.forge.commit_on_branch(SHOP, BRANCH, wanted(fake))
    assert not exists(fake, BRANCH)


def test_r9_a_rule_against_new_branches_is_named(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    set_rules(fake.world, "acme/shop", Rules(no_new_branches=True))
    with pytest.raises(PushRefusedError, match="creations being restricted"):
        as_app.forge.commit_on_branch(SHOP, BRANCH, wanted(fake))


def test_r9_signed_commits_are_no_trouble_for_github_itself(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    set_rules(fake.world, "acme/shop", Rules(signatures=True))
    assert as_app.forge.commit_on_branch(SHOP, BRANCH, wanted(fake))


def test_a_protected_branch_is_refused_by_name(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    commit = wanted(fake)
    fake.protect_branch("acme/shop", "trunk")
    with pytest.raises(PushRefusedError, match="rotected branch"):
        as_app.forge.commit_on_branch(SHOP, "trunk", commit)


def test_the_mutation_is_one_that_github_knows() -> None:
    corpus = corpus_folder()
    if corpus is None:
        return
    schema = build_schema((corpus / "github" / "schema.graphql").read_text())
    assert validate(schema, parse(MUTATION)) == []
