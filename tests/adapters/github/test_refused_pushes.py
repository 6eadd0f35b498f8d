"""What GitHub refuses at a push, and which rule that shows to be."""

from pathlib import Path

import pytest

from patchwright.core.types.errors import PatchwrightError, PermissionDeniedError
from patchwright.integrations.git.command import GitResult
from patchwright.integrations.git.remote import (
    BranchUpdate,
    Remote,
    map_push_error,
    push_commit,
)
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.messages.advice import explain_refusal
from tests.adapters.git.workshop import WorkTree
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.acts.rules import set_rules
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.rule_state import Rules


def refused(
    fake: FakeGitHub, github: GitHub, folder: Path, path: str, branch: str = "bot/fix"
) -> PatchwrightError:
    """Push a commit that adds a file, and return how that is refused."""
    tree = WorkTree.start(folder / "work", "trunk")
    tree.git("pull", "--quiet", str(fake.git_folder("acme/shop")), "trunk")
    tree.write(path, b"new\n")
    url = github.forge.fetch_repository(SHOP).clone_url
    with pytest.raises(PatchwrightError) as caught:
        push_commit(
            tree.objects.git,
            Remote(url, github.forge.mint_credential(SHOP)),
            BranchUpdate(branch, tree.commit(), expect=None, forbidden_branches=()),
        )
    return caught.value


def rule(error: PatchwrightError) -> str:
    return explain_refusal(str(error)).rule


@pytest.mark.parametrize(
    ("rules", "meaning"),
    [
        (Rules(signatures=True), "commits must be signed"),
        (
            Rules(no_new_branches=True),
            "new branches with this name are not allowed",
        ),
    ],
)
def test_r9_s36_a_ruleset_is_named(
    fake: FakeGitHub, as_app: GitHub, tmp_path: Path, rules: Rules, meaning: str
) -> None:
    set_rules(fake.world, "acme/shop", rules)
    error = refused(fake, as_app, tmp_path, "b.py")
    assert (rule(error), error.reason) == (meaning, "push-refused")


def test_r9_a_workflow_takes_a_permission_of_its_own(
    fake: FakeGitHub, as_app: GitHub, tmp_path: Path
) -> None:
    error = refused(fake, as_app, tmp_path, ".github/workflows/ci.yml")
    assert rule(error).startswith("the bot needs a permission to change workflow files")
    assert "`.github/workflows/ci.yml`" in str(error)


def test_r9_a_protected_branch_is_named(
    fake: FakeGitHub, as_app: GitHub, tmp_path: Path
) -> None:
    fake.protect_branch("acme/shop", "release")
    error = refused(fake, as_app, tmp_path, "b.py", "release")
    assert rule(error) == "the branch is protected"


def test_r9_an_archived_repository_is_named(
    fake: FakeGitHub, as_app: GitHub, tmp_path: Path
) -> None:
    set_rules(fake.world, "acme/shop", Rules(archived=True))
    error = refused(fake, as_app, tmp_path, "b.py")
    assert isinstance(error, PermissionDeniedError)
    assert rule(error) == "the repository is archived"


def test_r9_a_bot_that_may_only_read_is_told_so(
    fake: FakeGitHub, as_user: GitHub, tmp_path: Path
) -> None:
    fake.grant("acme/shop", "robot", "read")
    error = refused(fake, as_user, tmp_path, "b.py")
    assert rule(error) == "the bot has no permission for this"


def test_r9_a_reason_in_brackets_is_told_though_the_remote_said_more() -> None:
    reason = (
        "refusing to allow a GitHub App to create or update workflow "
        "`.github/workflows/ci.yml` without `workflows` permission"
    )
    done = GitResult(
        1,
        f"!\tabc:refs/heads/a\t[remote rejected] ({reason})\nDone\n".encode(),
        "remote: Resolving deltas: 100% (1/1), completed with 1 local object.\n",
    )
    assert str(map_push_error(done, "a")) == f"the remote refuses to update a: {reason}"
    words = "remote: error: GH013: no.\nremote: \n"
    hook = "push declined due to repository rule violations"
    declined = GitResult(
        1, f"!\tabc:refs/heads/a\t[remote rejected] ({hook})\n".encode(), words
    )
    assert str(map_push_error(declined, "a")).endswith("a: error: GH013: no.")
