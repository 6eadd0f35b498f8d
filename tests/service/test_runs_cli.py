"""`patchwright runs` beside a service: another process, on the same database."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.observations import PlanApproved
from patchwright.core.events.payload import Source
from patchwright.core.system.clock import SystemClock
from patchwright.resolver.job import JobState
from patchwright.workers.runs.administration import operator_name
from tests.adapters.cli.terminal import PATIENCE_S, Ended
from tests.fakes.github import bare
from tests.fakes.llm.turns import call, hang
from tests.flow.script import asked, in_turn, results
from tests.flow.story import MODEL_KEY, REPO, Story, fix_turns, telling
from tests.provision.starter import ready_starter
from tests.provision.waiting import wait_until
from tests.service.processes import PROGRAM

COLUMNS = "run state proof repo from by steps cost age title"
WISH = "@patchwright please fix the sum, 3 pieces cost 450"
QUESTION = ["Should `total` count in cents, or in euros?"] * 3
SOON_S = 3.0


def start(story: Story, folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["env", "--default-signal=INT", PROGRAM, "runs", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **story.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def runs(story: Story, folder: Path, *arguments: str) -> Ended:
    return command(story, folder, "runs", *arguments)


def command(story: Story, folder: Path, *arguments: str) -> Ended:
    environment = {"PATH": "/usr/bin:/bin", **story.environment}
    ended = ready_starter().run(
        *arguments, cwd=folder, env=environment, timeout=PATIENCE_S
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_work_that_is_on_no_branch_is_had_from_the_service(tmp_path: Path) -> None:
    many = call("shell", command="for n in $(seq 301); do echo $n > $n.txt; done")
    finish = call("finish", title="Add numbers", summary="All of them.")
    with telling(tmp_path, [many, finish]) as story:
        number = story.ask(WISH)
        story.work()
        [job] = story.jobs()
        assert f"`patchwright runs bundle {job.id[:8]}`" in story.reply(number)
        story.pings(number)
        assert story.branches() == []
        told = runs(story, tmp_path, "bundle", job.id[:8], "--json").answer
        assert told["file"] == f"work-{job.id[:8]}.bundle"
        again = runs(story, tmp_path, "bundle", job.id[:8])
        assert (again.code, again.out) == (2, "")
        clone = story.github.git_folder(REPO)
        fetch = ("fetch", "--quiet", str(tmp_path / told["file"]))
        bare.git(clone, *fetch, f"{told['ref']}:refs/heads/kept")
        changed = bare.git(clone, "diff", "--name-only", told["base_sha"], "kept")
        assert len(changed.splitlines()) == 301


def test_nothing_is_had_of_a_run_that_made_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, [call("finish", summary="The sum is right.")]) as story:
        number = story.ask(WISH)
        story.work()
        story.reply(number)
        ended = runs(story, tmp_path, "bundle", story.jobs()[0].id[:8])
        assert ended.code == 2
        assert "no work of the run" in ended.err


def test_runs_are_listed_with_what_one_wants_to_know(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        done = story.ask(WISH)
        story.work()
        waiting = story.ask(WISH, title="Another sum")
        ended = runs(story, tmp_path, "list")
        lines = ended.out.splitlines()
        assert (ended.code, ended.err) == (0, "")
        assert " ".join(lines[0].split()) == COLUMNS
        first, second = story.jobs()
        assert lines[1].startswith(f"{second.id[:8]}  queued")
        assert f"  {REPO}#{waiting}  github  alice  " in lines[1]
        assert lines[2].startswith(f"{first.id[:8]}  resolved")
        assert f"  proven  {REPO}#{done}  github  alice  " in lines[2]
        assert "  4/50  " in lines[2]
        assert "  unknown  " in lines[2]
        assert "\x1b" not in ended.out
        assert story.reply(done).startswith("**Done, proven**")
        chosen = runs(story, tmp_path, "list", "--outcome", "resolved", "--json")
        assert [one["run_id"] for one in chosen.answer["runs"]] == [first.id]
        for options, found in (
            (["--state", "queued"], [second.id]),
            (["--repo", REPO, "--limit", "1"], [second.id]),
            (["--repo", "acme/other"], []),
        ):
            listed = runs(story, tmp_path, "list", "--json", *options)
            assert [one["run_id"] for one in listed.answer["runs"]] == found


def test_a_run_is_shown_with_its_steps_and_where_its_result_is(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        [job] = story.jobs()
        ended = runs(story, tmp_path, "show", job.id[:8])
        assert ended.code == 0, ended.err
        assert (
            f"{REPO}#{issue} from github · requested by alice · ended: resolved"
            in ended.out
        )
        assert "  3 " in ended.out
        assert "edit cart.py" in ended.out
        assert "without the change         exit 1" in ended.out
        assert f"pull request:  {story.github.web_url}/{REPO}/pull/2" in ended.out
        shown = runs(story, tmp_path, "show", job.id, "--json").answer
        assert len(shown["steps"]) == 4
        assert shown["pr_url"] == f"{story.github.web_url}/{REPO}/pull/2"
        assert [one["exit_code"] for one in shown["evidence"]][:2] == [1, 0]
        assert (shown["proof"], shown["tests"][0]["after"]) == ("proven", "passed")
        assert story.reply(issue).startswith("**Done, proven**")


def test_a_run_of_the_service_is_replayed_by_the_beginning_of_its_id(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        [job] = story.jobs()
        ended = command(story, tmp_path, "replay", job.id[:8])
        assert (ended.code, ended.err) == (0, "")
        assert f"run {job.id[:8]}" in ended.out
        assert "resolved, proven" in ended.out
        assert story.reply(issue).startswith("**Done, proven**")


def test_an_id_that_nobody_has_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        story.ask(WISH)
        [job] = story.jobs()
        ended = runs(story, tmp_path, "show", f"x{job.id[1:8]}")
        assert ended.code == 2
        assert f"did you mean {job.id[:8]}?" in " ".join(ended.err.split())


def test_what_works_stops_within_seconds_in_the_operators_name(tmp_path: Path) -> None:
    write = call("write", path="half.py", content="1\n")
    with telling(tmp_path, [write, hang()]) as story, working(story, 2) as ends:
        issue = story.jobs()[0].trigger.forge_thread.number
        [job] = story.jobs()
        clock = SystemClock()
        ended = runs(story, tmp_path, "stop", job.id[:8])
        told_at = clock.monotonic()
        assert ended.code == 0, ended.err
        ends.result()
        assert clock.monotonic() - told_at < SOON_S
        assert story.reply(issue).startswith("**Stopped**")
        assert f"Stopped by {operator_name()}." in story.reply(issue)
        assert "The work so far is on" in story.reply(issue)
        [said] = [one for one in story.events() if isinstance(one.payload, ChangeState)]
        assert said.source is Source.USER
        too_late = runs(story, tmp_path, "stop", job.id[:8])
        assert (too_late.code, "has ended already" in too_late.err) == (1, True)


@pytest.mark.parametrize("is_begun", [True, False])
def test_what_waits_ends_as_stopped_too(tmp_path: Path, *, is_begun: bool) -> None:
    with telling(tmp_path, list(QUESTION)) as story:
        issue = story.ask(WISH)
        if is_begun:
            story.work()
            assert story.jobs()[0].state is JobState.WAITING_USER
        [job] = story.jobs()
        told = runs(story, tmp_path, "stop", job.id, "--json").answer
        assert told["was"] == ("waiting-user" if is_begun else "queued")
        asked = len(story.provider.requests)
        story.work_later(600)
        assert story.jobs()[0].state is JobState.CANCELLED
        assert len(story.provider.requests) == asked
        assert story.reply(issue).startswith("**Stopped**")
        assert f"Stopped by {operator_name()}" in story.reply(issue)


def test_the_stop_of_one_run_is_not_that_of_the_next(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        runs(story, tmp_path, "stop", story.jobs()[0].id)
        story.work()
        story.say(issue, "@patchwright retry")
        story.work()
        assert story.jobs()[1].state is JobState.DONE
        assert story.replies(issue)[1].startswith("**Done, proven**")


def test_a_run_that_is_just_about_to_wait_hears_it(tmp_path: Path) -> None:
    def stop(_request: Any) -> str:
        runs(story, tmp_path, "stop", story.jobs()[0].id)
        return QUESTION[0]

    with telling(tmp_path, in_turn(*QUESTION[:2], stop)) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.reply(issue).startswith("**Stopped**")


def test_a_retry_is_a_new_run_answered_in_the_same_thread(tmp_path: Path) -> None:
    turns = [call("finish", summary="Nothing is wrong."), *fix_turns()]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        busy = runs(story, tmp_path, "retry", story.jobs()[0].id)
        assert (busy.code, "has not ended" in busy.err) == (1, True)
        story.work()
        told = runs(story, tmp_path, "retry", story.jobs()[0].id, "--json").answer
        story.work()
        first, second = story.jobs()
        assert (told["run_id"], told["retries"]) == (second.id, first.id)
        assert second.conversation_id == first.conversation_id
        assert second.state is JobState.DONE
        assert story.replies(issue)[1].startswith("**Done, proven**")
        log = story.base.stores.events.open(first.conversation_id).read()
        said = [one.payload for one in log if isinstance(one.payload, ChangeState)]
        assert [one.reason for one in said] == [
            f"{operator_name()}, to retry the run {first.id[:8]},"
        ]


PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")


def test_an_operator_approves_a_plan_and_is_told_what_makes_no_sense(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(PLAN, *fix_turns())) as story:
        issue = story.ask("@patchwright plan a fix of the sum")
        early = runs(story, tmp_path, "budget", story.jobs()[0].id, "+2")
        assert (early.code, "has not started yet" in early.err) == (1, True)
        story.work()
        name = story.jobs()[0].id[:8]
        wrong = runs(story, tmp_path, "budget", name, "two")
        assert (wrong.code, "not an amount in US dollars" in wrong.err) == (2, True)
        told = runs(story, tmp_path, "approve", name)
        assert told.out == (
            f"The run {name} gets an approval; it was waiting-user, and reads it when "
            "a worker takes it.\n"
        )
        story.work()
        assert story.reply(issue).startswith("**Done, proven** · #2")
        assert all(one.startswith("@alice ") for one in story.pings(issue))
        said = [one.payload for one in story.events()]
        [approved] = [one for one in said if isinstance(one, PlanApproved)]
        assert f"approved by {operator_name()}." in approved.text
        late = runs(story, tmp_path, "answer", name, "and in euros")
        assert late.code == 1
        assert "needs an account on the forge" in " ".join(late.err.split())


def test_an_operator_answers_pauses_and_resumes(tmp_path: Path) -> None:
    def pause(request: Any) -> Any:
        assert "in cents, always" in asked(request)
        told = runs(story, tmp_path, "pause", story.jobs()[0].id, "--json").answer
        assert (told["sent"], told["was"]) == ("pause", "running")
        return first

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(*QUESTION, pause, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        runs(story, tmp_path, "answer", story.jobs()[0].id, "in cents, always")
        story.work()
        assert f"Paused by {operator_name()}." in story.reply(issue)
        runs(story, tmp_path, "resume", story.jobs()[0].id)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        story.pings(issue)


def test_an_operator_rejects_a_risky_action(tmp_path: Path) -> None:
    def look(request: Any) -> Any:
        assert f"Not run: {operator_name()} did not allow it." in results(request)[-1]
        return call("finish", summary="Looked.")

    risky = call("shell", command="rm -rf ~/.ssh; touch was_run")
    asks = {"PATCHWRIGHT_AGENT__CONFIRM": "risky"}
    with telling(tmp_path, in_turn(risky, look), settings=asks) as story:
        issue = story.ask(WISH)
        story.work()
        name = story.jobs()[0].id
        told = runs(story, tmp_path, "reject", name, "too risky", "--json").answer
        assert told["sent"] == "reject: too risky"
        assert told["told_by"] == operator_name()
        story.work()
        assert story.reply(issue).startswith("**No change**")
        story.pings(issue)


def test_what_is_exported_is_what_replay_reads(tmp_path: Path) -> None:
    turns = [call("shell", command=f"echo {MODEL_KEY}"), *fix_turns()]
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        runs(story, tmp_path, "retry", story.jobs()[0].id)
        first = story.jobs()[0]
        out = tmp_path / "run.json"
        ended = runs(story, tmp_path, "export", first.id[:8], "--out", str(out))
        assert ended.code == 0, ended.err
        assert MODEL_KEY not in out.read_text()
        replayed = ready_starter().run(
            *("replay", str(out), "--json"),
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            timeout=PATIENCE_S,
        )
        assert replayed.returncode == 0, replayed.stderr
        story_told = json.loads(replayed.stdout)
        assert story_told["run"]["run_id"] == first.id
        assert story_told["outcome"]["kind"] == "resolved"
        again = runs(story, tmp_path, "export", first.id, "--out", str(out))
        assert (again.code, "File exists" in " ".join(again.err.split())) == (2, True)
        assert story.reply(issue).startswith("**Done, proven**")


def test_one_can_follow_what_another_process_works_on(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        follows = start(story, tmp_path, "show", story.jobs()[0].id, "--follow")
        story.work()
        out, err = follows.communicate(timeout=PATIENCE_S)
        assert follows.returncode == 0, err
        assert "edit cart.py  +1 -1" in err
        assert out.startswith("resolved")
        assert f"pull request:  {story.github.web_url}/{REPO}/pull/2" in out
        assert "\x1b" not in out + err
        assert story.reply(issue).startswith("**Done, proven**")


def test_local_runs_are_listed_beside_and_steered_where_they_are(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        logs = tmp_path / "state" / "runs"
        logs.mkdir(parents=True)
        (logs / "torn.jsonl").write_text("")
        (logs / "abc.jsonl").write_text(
            '{"id":1,"at":"2026-01-01T00:00:00Z","source":"system","cause":null,'
            '"payload":{"kind":"outcome_reached","outcome":{"kind":"stuck"}}}\n'
        )
        [listed] = runs(story, tmp_path, "list", "--json").answer["runs"]
        assert (listed["run_id"], listed["id"]) == ("abc", "abc")
        assert (listed["stage"], listed["outcome"]) == ("ended", "stuck")
        shown = runs(story, tmp_path, "show", "ab")
        assert (shown.code, "stuck" in shown.out) == (0, True)
        stopped = runs(story, tmp_path, "stop", "ab")
        assert (stopped.code, "press Ctrl-C in its terminal" in stopped.err) == (
            2,
            True,
        )


@contextmanager
def working(story: Story, turns: int) -> Iterator["Future[None]"]:
    """Let a worker work on a request until it has asked the model so often."""
    story.ask(WISH)
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(story.work)

        def has_asked() -> bool:
            return len(story.provider.requests) >= turns or ends.done()

        wait_until(has_asked, "the model's turn", PATIENCE_S)
        yield ends
