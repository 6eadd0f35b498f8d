"""What GitLab refuses at a push, and which rule that shows to be."""

from pathlib import Path

import pytest

from patchwright.core.types.errors import PatchwrightError, PermissionDeniedError
from patchwright.integrations.git.remote import BranchUpdate, Remote, push_commit
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.resolver.messages.advice import explain_refusal
from tests.adapters.git.workshop import WorkTree
from tests.adapters.gitlab.conftest import PATH, SHOP, connect
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level, PushRules


def push(
    fake: FakeGitLab, gitlab: GitLab, folder: Path, path: str, branch: str = "bot/fix"
) -> str:
    """Push a commit that adds a file, and return its id."""
    tree = WorkTree.start(folder / "work", "trunk")
    tree.git("pull", "--quiet", str(fake.git_folder(PATH)), "trunk")
    tree.write(path, b"new\n" * 500_000 if path == "big" else b"new\n")
    url = gitlab.forge.fetch_repository(SHOP).clone_url
    sha = tree.commit()
    push_commit(
        tree.objects.git,
        Remote(url, gitlab.forge.mint_credential(SHOP)),
        BranchUpdate(branch, sha, expect=None, forbidden_branches=()),
    )
    return sha


def refused(
    fake: FakeGitLab, gitlab: GitLab, folder: Path, path: str, branch: str = "bot/fix"
) -> PatchwrightError:
    with pytest.raises(PatchwrightError) as caught:
        push(fake, gitlab, folder, path, branch)
    return caught.value


def rule(error: PatchwrightError) -> str:
    return explain_refusal(str(error)).rule


def test_a_push_with_our_credential_is_taken(
    fake: FakeGitLab, gitlab: GitLab, tmp_path: Path
) -> None:
    fake.set_rules(PATH, PushRules(branch_name=r"^bot/"))
    sha = push(fake, gitlab, tmp_path, "b.py")
    assert gitlab.forge.has_branch(SHOP, "bot/fix")
    assert gitlab.forge.commits.fetch_commit_message(SHOP, sha)


@pytest.mark.parametrize(
    ("rules", "path", "meaning"),
    [
        (
            PushRules(branch_name=r"^(feat|fix)/.*"),
            "b.py",
            "a push rule demands that names of branches match `^(feat|fix)/.*`",
        ),
        (
            PushRules(commit_message=r"APP-\d+"),
            "b.py",
            r"a push rule demands that commit messages match `APP-\d+`",
        ),
        (
            PushRules(negative_message=r"."),
            "b.py",
            "a push rule forbids commit messages that match `.`",
        ),
        (
            PushRules(author_email=r"@acme\.example$"),
            "b.py",
            (
                "a push rule demands that mail addresses of authors match "
                r"`@acme\.example$`"
            ),
        ),
        (
            PushRules(file_name=r"\.(jar|exe)$"),
            "b.exe",
            r"a push rule forbids files whose names match `\.(jar|exe)$`",
        ),
        (
            PushRules(prevent_secrets=True),
            "deploy/id_rsa",
            "a push rule forbids files whose names match `id_rsa$`",
        ),
        (
            PushRules(max_file_mb=1),
            "big",
            "a push rule forbids files larger than `1 MiB`",
        ),
        (PushRules(reject_unsigned=True), "b.py", "commits must be signed"),
    ],
)
def test_r9_a_push_rule_is_named(
    fake: FakeGitLab,
    gitlab: GitLab,
    tmp_path: Path,
    *,
    rules: PushRules,
    path: str,
    meaning: str,
) -> None:
    fake.set_rules(PATH, rules)
    error = refused(fake, gitlab, tmp_path, path)
    assert (rule(error), error.reason) == (meaning, "push-refused")
    assert not gitlab.forge.has_branch(SHOP, "bot/fix")


def test_r9_a_protected_branch_is_named(
    fake: FakeGitLab, gitlab: GitLab, tmp_path: Path
) -> None:
    fake.protect_branch(PATH, "release")
    error = refused(fake, gitlab, tmp_path, "b.py", "release")
    assert rule(error) == "the branch is protected"


def test_r9_a_bot_that_may_only_read_is_told_so(
    fake: FakeGitLab, tmp_path: Path
) -> None:
    token = fake.add_user("low")
    fake.grant(PATH, "low", Level.REPORTER)
    low = connect(fake, token)
    error = refused(fake, low, tmp_path, "b.py")
    assert isinstance(error, PermissionDeniedError)
    assert rule(error) == "the bot has no permission for this"
    low.close()


def test_r9_an_archived_project_takes_nothing(
    fake: FakeGitLab, gitlab: GitLab, tmp_path: Path
) -> None:
    fake.archive(PATH)
    error = refused(fake, gitlab, tmp_path, "b.py")
    assert rule(error)
