"""Files are read without a checkout, and cost nothing while they stay the same."""

import pytest

from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.client import MAX_KEPT
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.bare import File
from tests.fakes.github.fake import FakeGitHub

CONFIG = ".patchwright.toml"


def statuses(fake: FakeGitHub, end: str) -> list[int]:
    return [seen.status for seen in fake.requests if seen.path.endswith(end)]


def test_a_file_is_read_from_the_default_branch(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.commit_files("acme/shop", "trunk", {CONFIG: b"model = 'x'\r\n\xff"})
    assert as_app.forge.fetch_file(SHOP, CONFIG) == b"model = 'x'\r\n\xff"


def test_a_file_is_read_from_a_branch_or_commit(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    sha = fake.commit_files("acme/shop", "fix", {"docs/a b#.md": "new"})
    for ref in ("fix", sha):
        assert as_app.forge.fetch_file(SHOP, "docs/a b#.md", ref) == b"new"
    assert as_app.forge.fetch_file(SHOP, "docs/a b#.md") is None


@pytest.mark.parametrize("path", ["missing", "docs", "link", "docs/missing/deep"])
def test_what_is_no_file_is_none(fake: FakeGitHub, as_app: GitHub, path: str) -> None:
    files: dict[str, str | File] = {
        "docs/a.md": "a",
        "link": File(b"docs", mode="120000"),
    }
    fake.commit_files("acme/shop", "trunk", files)
    assert as_app.forge.fetch_file(SHOP, path) is None


def test_an_empty_file_is_no_missing_one(fake: FakeGitHub, as_app: GitHub) -> None:
    fake.commit_files("acme/shop", "trunk", {CONFIG: ""})
    assert as_app.forge.fetch_file(SHOP, CONFIG) == b""


def test_a_file_of_more_than_a_megabyte_is_refused_by_name(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.commit_files("acme/shop", "trunk", {"big": b"x" * 1_000_001})
    with pytest.raises(InvalidRequestError, match="big is larger than a megabyte"):
        as_app.forge.fetch_file(SHOP, "big")


def test_the_second_reading_of_a_file_is_free(fake: FakeGitHub, as_app: GitHub) -> None:
    fake.commit_files("acme/shop", "trunk", {CONFIG: "a = 1"})
    for _ in range(2):
        assert as_app.forge.fetch_file(SHOP, CONFIG) == b"a = 1"
    assert statuses(fake, CONFIG) == [200, 304]


def test_a_file_that_was_changed_is_read_anew(fake: FakeGitHub, as_app: GitHub) -> None:
    for text in ("a = 1", "a = 2"):
        fake.commit_files("acme/shop", "trunk", {CONFIG: text})
        assert as_app.forge.fetch_file(SHOP, CONFIG) == text.encode()
    assert statuses(fake, CONFIG) == [200, 200]


def test_a_file_that_was_taken_away_is_not_remembered(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.commit_files("acme/shop", "trunk", {CONFIG: "a = 1"})
    as_app.forge.fetch_file(SHOP, CONFIG)
    fake.commit_files("acme/shop", "trunk", {CONFIG: None})
    assert as_app.forge.fetch_file(SHOP, CONFIG) is None


def test_two_branches_are_not_taken_for_each_other(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    for branch in ("one", "two"):
        fake.commit_files("acme/shop", branch, {CONFIG: branch})
    for branch in ("one", "two", "one"):
        found = as_app.forge.fetch_file(SHOP, CONFIG, branch)
        assert found == branch.encode()


def test_only_so_many_answers_are_kept(fake: FakeGitHub, as_app: GitHub) -> None:
    names = [f"f{number}" for number in range(MAX_KEPT + 1)]
    fake.commit_files("acme/shop", "trunk", dict.fromkeys(names, "x"))
    for name in (*names, names[0], names[-1]):
        as_app.forge.fetch_file(SHOP, name)
    assert statuses(fake, "/f0") == [200, 200]
    assert statuses(fake, f"/{names[-1]}") == [200, 304]


def test_the_second_reading_of_a_repository_is_free(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    first = as_app.forge.fetch_repository(SHOP)
    assert as_app.forge.fetch_repository(SHOP) == first
    assert first.default_branch == "trunk"
    assert statuses(fake, "/repos/acme/shop") == [200, 304]


def test_an_answer_that_is_no_json_is_no_crash(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.fail_next("GET", r"/repos/acme/shop$", 404, body="<html>")
    with pytest.raises(NotFoundError, match="no explanation"):
        as_app.forge.fetch_repository(RepoRef(forge="github", full_name="acme/shop"))
