"""One request, one run, one pull request, whatever is redelivered."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from tests.fakes.github.state import Delivery
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
TIMES = 20


def test_a_delivery_that_comes_twenty_times_is_one_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        for _ in range(TIMES - 1):
            story.tell()
        story.work()
        _assert_one_of_each(story, issue)


def test_a_delivery_that_comes_many_times_at_once_is_one_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", WISH)
        with ThreadPoolExecutor(8) as pool:
            told = [pool.submit(story.tell) for _ in range(TIMES)]
        for one in told:
            one.result()
        story.work()
        _assert_one_of_each(story, issue)


def test_a_request_under_new_delivery_ids_is_one_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        original = story.github.deliveries[-1]
        for number in range(TIMES - 1):
            story.deliver(_under_another_id(original, number))
        story.work()
        _assert_one_of_each(story, issue)


def test_a_delivery_that_comes_again_after_the_run_starts_nothing(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        original = story.github.deliveries[-1]
        story.work()
        story.deliver(original)
        story.deliver(_under_another_id(original, 0))
        story.work()
        _assert_one_of_each(story, issue)


def _under_another_id(delivery: Delivery, number: int) -> Delivery:
    guid = str(UUID(int=number))
    headers = {**delivery.headers, "X-GitHub-Delivery": guid}
    return replace(delivery, guid=guid, headers=headers)


def _assert_one_of_each(story: Story, issue: int) -> None:
    assert len(story.jobs()) == 1
    assert len(story.provider.requests) == len(fix_turns())
    assert len(story.replies(issue)) == 1
    assert len(story.github.pull_requests(REPO)) == 1
