"""The base moves on under a pull request: ours is merged with it, once."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

from patchwright.core.types.triggers import TriggerKind
from tests.fakes.github.acts.builds import Report, run_job
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.state import Delivery
from tests.fakes.github.webhooks.check_suites import SuiteDone, send_check_suite
from tests.fakes.llm.turns import call
from tests.flow.script import in_turn
from tests.flow.story import CART, REPO, Story, fix_turns, telling

THEIRS = CART.replace("sum(prices)", "round(sum(prices), 2)")
BOTH = CART.replace("sum(prices)", "round(sum(p * n for p, n in zip(prices, pieces)))")
SETTLE = [
    call("write", path="cart.py", content=BOTH),
    call("finish", title="Merge main", summary="Kept both."),
]


def _push_to_main(story: Story, files: dict[str, str]) -> Delivery:
    story.github.commit_files(REPO, "main", {**files}, author="alice")
    push = story.github.delivery("push")
    assert story.deliver(push).status == 200
    return push


def _again(push: Delivery) -> Delivery:
    guid = str(UUID(int=1))
    headers = {**push.headers, "X-GitHub-Delivery": guid}
    return replace(push, guid=guid, headers=headers)


def test_a_push_that_conflicts_with_our_pull_request_is_merged_once(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(*fix_turns(), *SETTLE)) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [before] = story.github.pull_requests(REPO)
        push = _push_to_main(story, {"cart.py": THEIRS})
        story.work()
        story.deliver(push)
        story.deliver(_again(push))
        story.work()
        [after] = story.github.pull_requests(REPO)
        folder = story.github.git_folder(REPO)
        first, second = commit_of(folder, after.head_sha).parents
        assert (first, second) == (before.head_sha, after.base_sha)
        _, merging = story.jobs()
        assert merging.trigger.kind is TriggerKind.CONFLICT
        assert merging.trigger.actor.login == "alice"
        assert "**Done, proven**" in story.reply(after.number)
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_push_that_does_not_conflict_is_passed_over_in_silence(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(*fix_turns())) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [before] = story.github.pull_requests(REPO)
        _push_to_main(story, {"other.py": "y = 1\n"})
        story.work()
        [after] = story.github.pull_requests(REPO)
        assert after.head_sha == before.head_sha
        assert story.replies(after.number) == []
        assert len(story.provider.requests) == len(fix_turns())
        assert story.reply(issue)


def test_a_conflict_is_left_alone_where_a_repository_wants_that(
    tmp_path: Path,
) -> None:
    rules: dict[str, str | bytes] = {".patchwright.toml": 'triggers = ["mention"]'}
    with telling(tmp_path, in_turn(*fix_turns()), files=rules) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        _push_to_main(story, {"cart.py": THEIRS})
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert (story.replies(pull.number), story.reactions(pull.number)) == ([], [])
        assert len(story.provider.requests) == len(fix_turns())
        assert story.reply(issue)


def test_what_becomes_of_somebody_elses_pull_request_is_nothing_to_us(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        sha = story.github.commit_files(REPO, "mine", {"cart.py": "total = sum\n"})
        proposal = Proposal(title="Mine", head="mine", base="main")
        pull = story.github.open_pull_request(REPO, "alice", proposal)
        _push_to_main(story, {"cart.py": THEIRS})
        world = story.github.world
        run_job(world, REPO, sha, Report(name="lint"), "E501\n")
        done = SuiteDone(
            repo=REPO, branch="mine", sha=sha, conclusion="failure", actor="alice"
        )
        send_check_suite(world, done)
        story.tell()
        story.work()
        assert story.jobs() == []
        assert (story.replies(pull), story.reactions(pull)) == ([], [])
