"""A refusal is told by the rule behind it, and by what helps."""

import pytest

from patchwright.resolver.messages.advice import explain_refusal, refusal_words
from patchwright.resolver.messages.elements import MAX_SHOWN_BYTES, patch_block

SECRET = "push protection has found a secret"
# As GitHub, GitLab and git print them.
REFUSALS = [
    (
        "403: GitHub Actions is not permitted to create or approve pull requests.",
        "GitHub Actions cannot open pull requests here",
    ),
    (
        (
            "the remote refuses: refusing to allow a GitHub App to create or "
            "update workflow `.github/workflows/ci.yml` without `workflows` permission"
        ),
        "the bot needs a permission to change workflow files",
    ),
    (
        (
            "refusing to allow a Personal Access Token to create or update workflow "
            "`.github/workflows/ci.yml` without `workflow` scope"
        ),
        "the bot needs a permission to change workflow files",
    ),
    (
        (
            "error: GH013: Repository rule violations found for refs/heads/a.\n"
            "- Commits must have verified signatures."
        ),
        "commits must be signed",
    ),
    (
        (
            "error: GH013: Repository rule violations found for refs/heads/a.\n"
            "- Cannot create ref due to creations being restricted."
        ),
        "new branches with this name are not allowed",
    ),
    (
        (
            "error: GH013: Repository rule violations found for refs/heads/a.\n"
            "- GITHUB PUSH PROTECTION\n- Push cannot contain secrets"
        ),
        "push protection has found a secret",
    ),
    (
        (
            "error: GH013: Repository rule violations found for refs/heads/a.\n"
            "- Something new."
        ),
        "a rule of the repository forbids it",
    ),
    (
        "error: GH006: Protected branch update failed for refs/heads/main.",
        "the branch is protected",
    ),
    (
        "error: GH001: Large files detected.",
        "a file is larger than the service allows",
    ),
    (
        "remote: This repository was archived so it is read-only.",
        "the repository is archived",
    ),
    (
        "GitHub answered 403: Repository was archived so is read-only.",
        "the repository is archived",
    ),
    (
        (
            "403: Resource protected by organization SAML enforcement. You "
            "must grant your OAuth token access to this organization."
        ),
        "the organization requires single sign-on",
    ),
    (
        (
            "GitHub answered 422: Validation Failed; A pull request already exists for "
            "acme:bot/fix."
        ),
        "this branch already has a pull request",
    ),
    (
        "GitHub answered 422: Validation Failed; base: invalid",
        "the target branch does not exist any more",
    ),
    (
        "GitHub answered 422: Validation Failed; No commits between main and bot/fix",
        "the branch has no new commits",
    ),
    (
        "GitHub answered 403: Resource not accessible by integration",
        "the bot has no permission for this",
    ),
    (
        "remote: Permission to acme/shop.git denied to robot.",
        "the bot has no permission for this",
    ),
    (
        "GitHub answered 401: Bad credentials",
        "the bot's credential is no longer valid",
    ),
    (
        (
            "the remote refuses to update bot/fix: GitLab: Branch name 'bot/fix' does "
            "not follow the pattern '^(feat|fix)/.*'"
        ),
        "a push rule demands that names of branches match `^(feat|fix)/.*`",
    ),
    (
        "GitLab: Commit message does not follow the pattern 'APP-\\d+'",
        "a push rule demands that commit messages match `APP-\\d+`",
    ),
    (
        "GitLab: Commit message contains the forbidden pattern '`wip`'",
        "a push rule forbids commit messages that match `` `wip` ``",
    ),
    (
        "GitLab: Author's email 'bot@x.example' does not follow the pattern '@acme$'",
        "a push rule demands that mail addresses of authors match `@acme$`",
    ),
    (
        (
            "GitLab: You cannot push commits for 'bot@x.example'. You can only push "
            "commits if the committer email is one of your own verified emails."
        ),
        "a push rule demands that authors are verified members",
    ),
    (
        "GitLab: File name a.exe was prohibited by the pattern '(jar|exe)$'.",
        "a push rule forbids files whose names match `(jar|exe)$`",
    ),
    (
        'GitLab: File "a.bin" is larger than the allowed size of 5 MiB.',
        "a push rule forbids files larger than `5 MiB`",
    ),
    ("GitLab: Commit must be signed with a GPG key", "commits must be signed"),
    ("GitLab: Commit message must contain a DCO signoff", "commits must be signed off"),
    (
        (
            "GitLab: You are not allowed to push code to protected branches on this "
            "project."
        ),
        "the branch is protected",
    ),
    (
        "GitLab: You are not allowed to push code to this project.",
        "the bot has no permission for this",
    ),
    (
        "GitLab: LFS objects are missing. Ensure LFS is properly set up.",
        "a Git LFS file was not uploaded",
    ),
    (
        "GitLab answered 422: target_branch: does not exist",
        "the target branch does not exist any more",
    ),
    (
        "GitLab answered 422: source_branch: does not exist",
        "the branch of the change does not exist any more",
    ),
    ("remote: PUSH BLOCKED: Secrets detected in code changes", SECRET),
]


@pytest.mark.parametrize(("said", "rule"), REFUSALS)
def test_r9_a_known_refusal_names_the_rule_and_what_helps(said: str, rule: str) -> None:
    known = explain_refusal(said)
    assert known.rule == rule
    assert known.advice.endswith(".")
    assert refusal_words(said) == f"{rule[0].upper()}{rule[1:]}. {known.advice}"


def test_s33_an_unknown_refusal_is_shown_unchanged() -> None:
    said = "GitHub answered 422: Validation Failed; milestone: invalid"
    assert refusal_words(said) == said


def test_r9_a_short_patch_is_shown_byte_for_byte() -> None:
    patch = b"From abc\n---\n+\tone ``` two\n"
    block = patch_block(patch)
    assert "````diff\nFrom abc\n---\n+\tone ``` two\n````" in block
    assert block.startswith("<details><summary>")
    assert block.endswith("</details>")


@pytest.mark.parametrize(
    "patch", [b"+" * (MAX_SHOWN_BYTES + 1), b"+caf\xe9\n", b"+one\r\n", b"+\x1b[31m\n"]
)
def test_r9_a_patch_that_a_page_would_spoil_is_not_shown(patch: bytes) -> None:
    assert patch_block(patch) == ""
