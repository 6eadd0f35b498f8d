"""A pull request is looked after: reviews answered, checks and conflicts seen to."""

from pathlib import Path

from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.builds import Report, run_job, set_status
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.webhooks.check_suites import SuiteDone, send_check_suite
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, Story, fix_turns, telling

BRANCH = "patchwright/1-wrong-sum"
WRITE = call("write", path="note.txt", content="Done.\n")
FINISH = call("finish", title="Mend it", summary="Mended it.")


def _fail_checks(story: Story, log: str) -> None:
    """Let the checks of our newest commit fail, and tell the service."""
    [pull] = story.github.pull_requests(REPO)
    world = story.github.world
    run_job(world, REPO, pull.head_sha, Report(name="lint"), log)
    suite = SuiteDone(
        repo=REPO,
        branch=BRANCH,
        sha=pull.head_sha,
        conclusion="failure",
        actor="alice",
    )
    send_check_suite(world, suite)
    story.tell()


def test_failed_checks_of_our_pull_request_are_mended_until_they_fail_alike(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "E501 Line too long" in asked(request)
        return WRITE

    with telling(tmp_path, in_turn(*fix_turns(), look, FINISH)) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [first] = story.github.pull_requests(REPO)
        _fail_checks(story, "E501 Line too long\n")
        story.work()
        [second] = story.github.pull_requests(REPO)
        assert second.head_sha != first.head_sha
        assert "**Done, proven**" in story.replies(second.number)[0]
        for _ in range(2):
            _fail_checks(story, "E501 Line too long\n")
            story.work()
            [third] = story.github.pull_requests(REPO)
            assert third.head_sha == second.head_sha
        _, told = story.replies(second.number)
        assert "The checks fail again in the same way (`lint`)" in told
        story.replies(issue)


def _set_status(story: Story, sha: str, context: str, state: str, text: str) -> None:
    """Set a status on a commit, and tell the service, which hears of statuses."""
    set_status(story.github.world, REPO, sha, context, state=state, text=text)
    assert story.github.deliveries[-1].event == "status"
    story.tell()


def test_a_failed_status_of_our_pull_request_is_mended_for_as_many_rounds_as_may_be(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "E501 in cart.py" in asked(request)
        return WRITE

    again = call("write", path="note.txt", content="Done again.\n")
    script = in_turn(*fix_turns(), look, FINISH, again, FINISH)
    with telling(tmp_path, script) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [first] = story.github.pull_requests(REPO)
        _set_status(story, first.head_sha, "old/ci", "failure", "E501 in cart.py")
        story.work()
        [second] = story.github.pull_requests(REPO)
        assert second.head_sha != first.head_sha
        # Late, and about a commit that is not the head any more.
        _set_status(story, first.head_sha, "old/ci", "error", "It broke")
        story.work()
        assert story.github.pull_requests(REPO) == [second]
        _set_status(story, second.head_sha, "old/ci", "failure", "A test fails")
        story.work()
        [third] = story.github.pull_requests(REPO)
        assert third.head_sha != second.head_sha
        _set_status(story, third.head_sha, "old/ci", "failure", "Another test fails")
        story.work()
        assert story.github.pull_requests(REPO) == [third]
        assert "still fail (`old/ci`) after 2 rounds" in story.replies(third.number)[-1]
        story.replies(issue)


def test_a_status_that_flips_on_one_commit_is_one_round_when_nothing_is_pending(
    tmp_path: Path,
) -> None:
    left = call("finish", title="Leave it", summary="It is not the code.")
    with telling(tmp_path, in_turn(*fix_turns(), left)) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        sha, before = pull.head_sha, len(story.provider.requests)
        _set_status(story, sha, "old/lint", "pending", "Runs")
        _set_status(story, sha, "old/ci", "failure", "It broke")
        story.work()
        assert len(story.provider.requests) == before
        _set_status(story, sha, "old/lint", "success", "Fine")
        story.work()
        assert len(story.provider.requests) == before + 1
        for state in ("success", "failure", "success", "error"):
            _set_status(story, sha, "old/ci", state, "It flips")
            story.work()
        assert len(story.provider.requests) == before + 1
        assert story.github.pull_requests(REPO) == [pull]
        story.replies(issue)
        story.replies(pull.number)


def test_a_status_on_somebody_elses_commit_is_nothing_to_us(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(*fix_turns())) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        sha = story.github.commit_files(REPO, "mine", {"mine.py": "x = 1\n"})
        proposal = Proposal(title="Mine", head="mine", base="main")
        theirs = story.github.open_pull_request(REPO, "alice", proposal)
        _set_status(story, sha, "old/ci", "failure", "It broke")
        story.work()
        assert len(story.jobs()) == 1
        assert (story.replies(theirs), story.reactions(theirs)) == ([], [])
        story.replies(issue)


def test_s43_each_reviewer_gets_an_answer_in_the_thread(tmp_path: Path) -> None:
    done = call(
        "finish",
        title="Follow the review",
        summary="Followed it.",
        reviews=[{"thread": 1, "verdict": "addressed", "text": "Wrote it."}],
    )
    with telling(tmp_path, [WRITE, done]) as story:
        story.github.add_user("bob")
        story.github.grant(REPO, "bob", "write")
        story.github.commit_files(REPO, "x", {"x.py": "x = 1\n"})
        proposal = Proposal(title="Try x", head="x", base="main")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        thread = reviews.comment_on(
            story.github.world,
            REPO,
            number,
            author="bob",
            spot=Spot(path="x.py", line=1),
            body="Write a note.",
        )
        story.say(number, "@patchwright address the review")
        story.work()
        found = story.github.world.reviews[thread]
        [pull] = story.github.pull_requests(REPO)
        assert found.is_resolved
        assert found.comments[-1].body.startswith(
            f"**Addressed in [`{pull.head_sha[:10]}`]"
        )
        story.replies(number)


def test_a_merge_conflict_is_resolved_as_a_merge(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert "<<<<<<< HEAD" in results(request)[-1]
        return call("write", path="x.py", content="x = 3\n")

    script = in_turn(call("read", path="x.py"), look, FINISH)
    with telling(tmp_path, script) as story:
        story.github.commit_files(REPO, "x", {"x.py": "x = 1\n"})
        base = story.github.commit_files(
            REPO, "main", {"x.py": "x = 2\n", "of_main.py": "y = 1\n"}
        )
        proposal = Proposal(title="Try x", head="x", base="main")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        [before] = story.github.pull_requests(REPO)
        story.say(number, "@patchwright resolve the conflicts")
        story.work()
        [after] = story.github.pull_requests(REPO)
        folder = story.github.git_folder(REPO)
        assert commit_of(folder, after.head_sha).parents == (before.head_sha, base)
        assert "**Change made, not proven**" in story.reply(number)


def test_a_conflict_that_is_left_is_not_committed(tmp_path: Path) -> None:
    with telling(tmp_path, [FINISH]) as story:
        story.github.commit_files(REPO, "x", {"x.py": "x = 1\n"})
        story.github.commit_files(REPO, "main", {"x.py": "x = 2\n"})
        proposal = Proposal(title="Try x", head="x", base="main")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        [before] = story.github.pull_requests(REPO)
        story.say(number, "@patchwright resolve the conflicts")
        story.work()
        [after] = story.github.pull_requests(REPO)
        assert after.head_sha == before.head_sha
        assert "Conflict markers were left in `x.py`" in story.reply(number)


def test_s35_a_pull_request_of_somebody_else_is_linked_and_gets_no_competitor(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        story.github.commit_files(REPO, "mine", {"cart.py": "total = sum\n"})
        proposal = Proposal(
            title="Mend it", head="mine", base="main", body=f"Fixes #{issue}"
        )
        competing_pull = story.github.open_pull_request(REPO, "alice", proposal)
        story.say(issue, "@patchwright fix the sum")
        story.work()
        assert story.branches() == ["mine"]
        assert f"#{competing_pull} by alice is open" in story.reply(issue)
        story.say(issue, "@patchwright retry")
        story.work()
        assert len(story.github.pull_requests(REPO)) == 2
        story.replies(issue)
