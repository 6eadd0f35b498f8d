"""A review is one request, with all that it says about lines."""

from pathlib import Path

from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.adorning import awaited
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Remark, Spot
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

LINES = "".join(f"line_{number} = {number}\n" for number in range(1, 6))
VERDICTS = (*["addressed"] * 3, "not-addressed", "needs-input")
WRITE = call("write", path="x.py", content=LINES.replace("_", ""))
ANSWER = call("finish", summary="Looked.", answer="It is as it should be.")
RULED = {".patchwright.toml": 'triggers = ["mention", "review"]'}


def _open_pull(story: Story) -> int:
    story.github.add_user("bob")
    story.github.grant(REPO, "bob", "write")
    story.github.commit_files(REPO, "x", {"x.py": LINES}, author="alice")
    proposal = Proposal(title="Try x", head="x", base="main")
    return story.github.open_pull_request(REPO, "alice", proposal)


def _submit(story: Story, number: int, wish: str) -> int:
    """Let bob ask for changes of all five lines, and tell all that GitHub tells."""
    told = len(story.github.deliveries)
    review = reviews.submit_review(
        story.github.world,
        REPO,
        number,
        author="bob",
        state="CHANGES_REQUESTED",
        remarks=[
            Remark(spot=Spot(path="x.py", line=line), body=f"{wish} remark {line}")
            for line in range(1, 6)
        ],
    )
    for delivery in story.github.deliveries[told:]:
        assert story.deliver(delivery).status in {200, 202}
    return review


def test_s43_a_review_with_five_mentions_is_one_run_that_answers_each(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        told.append(asked(request))
        return WRITE

    told: list[str] = []
    answers = [
        {"thread": number, "verdict": verdict, "text": f"Answer {number}."}
        for number, verdict in enumerate(VERDICTS, 1)
    ]
    done = call("finish", title="Rename", summary="Renamed.", reviews=answers)
    with telling(tmp_path, in_turn(look, done)) as story:
        number = _open_pull(story)
        review = _submit(story, number, "@patchwright")
        story.work()
        assert len(story.jobs()) == 1
        assert all(f"remark {line}" in told[0] for line in range(1, 6))
        assert "**Change made, not proven**" in story.reply(number)
        threads = [
            story.github.world.reviews[one]
            for one in reviews.thread_ids(story.github.world, review)
        ]
        for thread, verdict in zip(threads, VERDICTS, strict=True):
            assert thread.is_resolved is (verdict == "addressed")
            assert len(thread.comments) == 2
            assert f"Answer {thread.line}." in thread.comments[-1].body
        seen = awaited(story.github.world, story.github.issue(REPO, number))
        assert seen.people == ("bob",)


def test_a_comment_of_a_review_that_asks_while_the_run_works_is_not_another(
    tmp_path: Path,
) -> None:
    def tell_the_rest(_request: Request) -> TurnLike:
        for delivery in story.github.deliveries[-2:]:
            story.deliver(delivery)
        return ANSWER

    with telling(tmp_path, in_turn(tell_the_rest)) as story:
        number = _open_pull(story)
        _submit(story, number, "@patchwright")
        story.work()
        assert len(story.jobs()) == 1
        assert "It is as it should be." in story.reply(number)


def _ours(story: Story) -> tuple[int, int]:
    """Let the bot open a pull request; return the issue and it."""
    issue = story.ask("@patchwright fix the sum")
    story.work()
    story.replies(issue)
    [pull] = story.github.pull_requests(REPO)
    return issue, pull.number


def _ask_for_changes(story: Story, number: int, author: str = "alice") -> None:
    reviews.submit_review(
        story.github.world,
        REPO,
        number,
        author=author,
        state="CHANGES_REQUESTED",
        body="Count from zero.",
    )
    story.tell()
    story.work()


def test_a_review_of_our_pull_request_is_left_to_people_by_default(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(*fix_turns())) as story:
        issue, number = _ours(story)
        _ask_for_changes(story, number)
        assert len(story.provider.requests) == len(fix_turns())
        assert (story.replies(number), len(story.replies(issue))) == ([], 1)
        assert story.reactions(number) == []


def test_s09_a_strangers_review_of_the_bots_pull_request_is_ignored(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(*fix_turns()), files=RULED) as story:
        _, number = _ours(story)
        _ask_for_changes(story, number, author="eve")
        assert len(story.provider.requests) == len(fix_turns())
        assert (story.replies(number), story.reactions(number)) == ([], [])


def test_a_review_of_our_pull_request_is_followed_where_a_repository_wants_it(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        told.append(asked(request))
        return call("write", path="note.txt", content="From zero.\n")

    told: list[str] = []
    done = call("finish", title="Count from zero", summary="Counted.")
    turns = in_turn(*fix_turns(), look, done)
    with telling(tmp_path, turns, files=RULED) as story:
        _, number = _ours(story)
        [before] = story.github.pull_requests(REPO)
        _ask_for_changes(story, number)
        [after] = story.github.pull_requests(REPO)
        assert "Count from zero." in told[0]
        assert after.head_sha != before.head_sha
        assert "**Done, proven**" in story.reply(number)
