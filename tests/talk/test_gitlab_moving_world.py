"""The world of GitLab moves on while we work: names, branches, workers, webhooks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from patchwright.core.settings.model import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.integrations.settings import load_settings
from patchwright.resolver.job import JobState
from patchwright.workers.compose import make_worker, open_service_parts
from tests.fakes.gitlab import MERGE_REQUEST, Level, Moment, Place, Visibility
from tests.fakes.gitlab.webhooks.outbox import again
from tests.fakes.llm.turns import TurnLike, call
from tests.fakes.tls import make_authority
from tests.flow.gitlab_story import (
    BRANCH,
    SECRET,
    SHOP,
    TITLE,
    telling_gitlab,
)
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import FILES, fix_turns
from tests.provision.waiting import wait_until

WISH = "@patchwright fix the sum"
ANSWER = call("finish", summary="Looked.", answer="The pieces are not counted.")


def test_s68_twenty_deliveries_of_one_request_are_one_run(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        issue = story.gitlab.open_issue(SHOP, "alice", TITLE, WISH)
        sent = story.gitlab.deliveries[-1]
        with story.gitlab.world.lock:
            copies = [sent, *(again(story.gitlab.world, sent) for _ in range(19))]
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(story.deliver, copies))
        assert sorted(answers) == [200] * 19 + [202]
        story.work()
        story.deliver(again(story.gitlab.world, sent))
        story.work()
        assert len(story.jobs()) == 1
        assert "The pieces are not counted." in story.reply(issue)


def test_twenty_mentions_at_once_are_one_run_that_hears_them_all(
    tmp_path: Path,
) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        issue = story.gitlab.open_issue(SHOP, "alice", TITLE, "It is wrong.")
        story.tell()
        for number in range(20):
            story.gitlab.comment(SHOP, issue, "alice", f"@patchwright word {number}.")
        sent = story.gitlab.deliveries[story.carried :]
        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(story.deliver, sent)) <= {200, 202}
        story.lose()
        story.work()
        told = asked(story.provider.requests[0])
        assert all(f"word {number}." in told for number in range(20))
        assert len(story.jobs()) == 1
        assert "The pieces are not counted." in story.reply(issue)


def test_a_killed_worker_is_followed_by_another_that_says_nothing_twice(
    tmp_path: Path,
) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER, ANSWER)) as story:
        settings = load_settings(story.environment, flags={}, cwd=tmp_path)
        redactor = Redactor(secret_values(settings))
        with open_service_parts(
            settings, redactor, lambda _job: None, story.clock
        ) as opened:
            second = make_worker(replace(opened, clock=story.clock))
            issue = story.gitlab.open_issue(SHOP, "alice", TITLE, WISH)
            story.tell()

            def take_over() -> None:
                story.clock.advance(60)
                second.run(story.jobs()[0].id)

            story.gitlab.interrupt_next(
                "PUT",
                r"/notes/\d+$",
                take_over,
                moment=Moment.BEFORE,
            )
            story.work()
            story.clock.advance(60)
            story.runner.sweep()
            assert "The pieces are not counted." in story.reply(issue)
            assert len(story.pings(issue)) <= 1


def test_a_renamed_project_goes_on_under_its_new_name(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER, ANSWER)) as story:
        story.gitlab.add_system_hook(SECRET)
        issue = story.ask(WISH)
        new = "acme/tools/store"
        story.gitlab.move_project(SHOP, new, "alice")
        story.work()
        story.gitlab.comment(new, issue, "alice", "@patchwright and now?")
        story.work()
        first, second = story.jobs()
        assert first.conversation_id == second.conversation_id
        assert second.trigger.forge_thread.repo.full_name == new
        first_reply, second_reply = story.replies(issue, path=new)
        assert "The pieces are not counted." in first_reply
        assert "The pieces are not counted." in second_reply


def test_a_moved_issue_is_answered_where_it_is_now(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        other = "acme/tools/other"
        story.gitlab.add_project(other, files=FILES)
        story.gitlab.add_hook(other, SECRET)
        story.gitlab.grant(other, "patchwright", Level.DEVELOPER)
        issue = story.gitlab.open_issue(SHOP, "alice", TITLE, WISH)
        story.tell()
        there = story.gitlab.move_issue(SHOP, issue, other, "alice")
        story.work()
        assert "The pieces are not counted." in story.reply(there, path=other)
        assert len(story.worked()) == 1
        told = story.reply(issue)
        assert told.startswith("**Stopped**")
        assert "The thread was closed before the run started." in told


def test_an_issue_that_is_moved_with_its_answer_does_not_ask_again(
    tmp_path: Path,
) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER, ANSWER)) as story:
        other = "acme/tools/other"
        story.gitlab.add_project(other, files=FILES)
        story.gitlab.add_hook(other, SECRET)
        story.gitlab.grant(other, "patchwright", Level.DEVELOPER)
        issue = story.ask(WISH)
        assert "The pieces are not counted." in story.reply(issue)
        there = story.gitlab.move_issue(SHOP, issue, other, "alice")
        story.work()
        assert len(story.worked()) == 1
        moved_along = story.replies(there, path=other)
        assert moved_along == story.replies(issue)
        story.gitlab.comment(other, there, "alice", WISH)
        story.work()
        assert len(story.worked()) == 2
        _, newest = story.replies(there, path=other)
        assert "The pieces are not counted." in newest


def test_a_branch_that_is_deleted_meanwhile_costs_no_work(tmp_path: Path) -> None:
    def delete(_request: Request) -> TurnLike:
        story.gitlab.delete_branch(SHOP, BRANCH, "alice")
        return write

    write = call("write", path="note.txt", content="Done.\n")
    done = call("finish", title="Add a note", summary="Added a note.")
    with telling_gitlab(tmp_path, in_turn(*fix_turns(), delete, done)) as story:
        issue = story.ask(WISH)
        number = story.merge_request().number
        story.say(number, "@patchwright please add a note", kind=MERGE_REQUEST)
        told = story.reply(number, MERGE_REQUEST)
        assert (
            f"`{BRANCH}` was not changed: it was deleted while this run worked." in told
        )
        [branch] = story.branches()
        assert f"The change is on [`{branch}`](" in told
        assert story.file(branch, "note.txt") == "Done.\n"
        assert story.notes(issue)


def test_a_closed_issue_stops_what_waits(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(*["Cents, or euros?"] * 3)) as story:
        issue = story.ask(WISH)
        story.gitlab.close(SHOP, issue, "alice")
        story.work()
        assert "Stopped by the service: the thread was closed." in story.reply(issue)
        assert story.jobs()[0].state is JobState.CANCELLED
        assert story.pings(issue)


def test_what_no_webhook_brought_is_found_by_polling(tmp_path: Path) -> None:
    polls = {"PATCHWRIGHT_GITLAB__POLL_SECONDS": "0.2"}
    with telling_gitlab(tmp_path, in_turn(ANSWER), settings=polls) as story:
        issue = story.gitlab.open_issue(SHOP, "alice", TITLE, WISH)
        story.lose()
        wait_until(lambda: bool(story.jobs()), "a poll", 20)
        story.work()
        assert "The pieces are not counted." in story.reply(issue)


def test_s15_a_server_below_a_path_with_an_authority_of_its_own(
    tmp_path: Path,
) -> None:
    authority = make_authority(tmp_path, "corp")
    place = Place(prefix="/gitlab", authority=authority)
    trust = {"PATCHWRIGHT_GITLAB__CA_BUNDLE": str(authority.bundle)}
    with telling_gitlab(
        tmp_path,
        fix_turns(),
        place=place,
        settings=trust,
        visibility=Visibility.PRIVATE,
    ) as story:
        issue = story.ask(WISH)
        pull = story.merge_request()
        root = story.gitlab.base_url
        assert root.startswith("https://")
        assert root.endswith("/gitlab")
        assert f"({root}/{SHOP}/-/commit/" in pull.body
        assert "**Done, proven** · !1" in story.reply(issue)
        assert story.pings(issue)
        asked_for = {one.path for one in story.gitlab.requests}
        assert all(path.startswith("/gitlab/") for path in asked_for)
