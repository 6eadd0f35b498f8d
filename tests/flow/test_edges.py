"""What goes wrong at the edges costs no more than the edge, and no stranger a word."""

from collections import Counter
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.github import bare
from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum, 3 pieces cost 450"
RULES = r"/contents/\.patchwright\.toml"
# Of one read: PyGithub asks again by itself.
TRIES = 4
# Permission is asked for before the work, and before each of the three writes. What the
# default branch is called is read again before the push.
READS = {
    "/app": 1,
    "/repos/acme/shop": 2,
    "/repos/acme/shop/collaborators/alice/permission": 4,
    "/repos/acme/shop/contents/.patchwright.toml": 1,
    "/repos/acme/shop/git/ref/heads/patchwright/1-wrong-sum": 1,
    "/repos/acme/shop/installation": 1,
    "/repos/acme/shop/issues/1": 1,
    "/repos/acme/shop/issues/1/comments": 1,
    "/repos/acme/shop/pulls": 2,
    "/repos/acme/shop/pulls/2": 1,
}


def test_a_simple_run_reads_nothing_from_github_twice_but_what_a_write_rests_on(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        number = story.ask(WISH)
        before = len(story.github.requests)
        story.work()
        assert "**Done, proven** · #2" in story.reply(number)
        assert len(story.pings(number)) == 1
        made = story.github.requests[before:]
    api = "/api/v3"
    paths = [s.path.removeprefix(api) for s in made if s.path.startswith(api)]
    reads = [
        path
        for seen, path in zip(
            (s for s in made if s.path.startswith(api)), paths, strict=True
        )
        if seen.method == "GET"
    ]
    assert Counter(reads) == READS


@pytest.mark.parametrize("status", [403, 500])
def test_a_pull_request_that_cannot_be_adorned_is_there_all_the_same(
    tmp_path: Path, status: int
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        number = story.ask(WISH)
        story.github.fail_next("GET", r"/pulls/2$", status, times=3 * TRIES)
        story.work()
        for wait_s in (5, 10):
            story.work_later(wait_s)
        said = story.reply(number)
        assert "**Done, proven** · #2" in said
        assert "labels and assignees may be missing" in said
        assert len(story.github.pull_requests(REPO)) == 1
        assert len(story.pings(number)) == 1


@pytest.mark.parametrize(("author", "answers"), [("eve", 0), ("alice", 1)])
def test_who_may_not_ask_does_not_learn_that_the_rules_could_not_be_read(
    tmp_path: Path, author: str, answers: int
) -> None:
    with telling(tmp_path, []) as story:
        story.github.fail_next("GET", RULES, 500, times=TRIES)
        number = story.ask(WISH, author=author)
        story.work()
        assert len(story.replies(number)) == answers
        assert story.outcome().kind == ("failed" if answers else "refused")


def test_a_repository_without_a_commit_is_refused_in_plain_words(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        folder = story.github.git_folder(REPO)
        bare.git(folder, "update-ref", "-d", "refs/heads/main")
        number = story.ask(WISH)
        story.work()
        outcome = story.outcome()
        assert (outcome.kind, outcome.reason) == (OutcomeKind.REFUSED, "no-commits")
        reply = story.reply(number)
        assert "the repository has no commit yet" in reply
        assert "Push a first commit, then ask again" in reply
        story.pings(number)
