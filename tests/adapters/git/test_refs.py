"""What we take for a branch, git takes too."""

import pytest

from patchwright.core.text.branch_names import MAX_BRANCH_CHARS, is_branch_name
from patchwright.core.types.errors import GitError
from patchwright.integrations.git.command import check_branch

GOOD = (
    "main",
    "fix/7-wrong-sum",
    "SHOP-7",
    "a.b",
    "a@b",
    "1",
    "a" * MAX_BRANCH_CHARS,
)
REFUSED_BY_GIT = (
    "",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a..b",
    "a.lock",
    "a/b.lock/c",
    "a.",
    "a b",
    "a~b",
    "a^b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a\\b",
    "a@{b",
    "a\x7fb",
    "-a",
    "HEAD",
    "refs/heads/a",
)
# Git takes these; a shell, a link or another system may not.
TOO_ODD = ("a;id", "$(id)", "a'b", "é", "a#b", "a&b", "a" * (MAX_BRANCH_CHARS + 1))


@pytest.mark.parametrize("name", GOOD)
def test_s46_a_plain_name_is_a_branch(name: str) -> None:
    assert is_branch_name(name)
    assert check_branch(name) == f"refs/heads/{name}"


@pytest.mark.parametrize("name", REFUSED_BY_GIT)
def test_s46_a_name_that_git_refuses_is_refused_without_git(name: str) -> None:
    assert not is_branch_name(name)
    with pytest.raises(GitError):
        check_branch(name)


@pytest.mark.parametrize("name", TOO_ODD)
def test_s46_a_name_that_breaks_shells_is_no_branch(name: str) -> None:
    assert not is_branch_name(name)
