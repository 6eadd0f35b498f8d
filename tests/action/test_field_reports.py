"""What has gone wrong in the Actions of others does not in ours."""

from pathlib import Path

import pytest

from tests.action.machine import make_machine, prepare
from tests.action.scene import playing
from tests.fakes.llm.turns import call
from tests.flow.story import REPO, fix_turns

# A machine with much else to do takes minutes for what usually takes seconds.
pytestmark = pytest.mark.timeout(600)

ANSWER = call("finish", summary="$(touch pwned)", answer="`touch pwned` * \n::error::x")
TITLE = 'Sum $(touch pwned) `touch pwned` * "; touch pwned; ${{ github.token }}'
BODY = "@patchwright why?\n$(touch pwned)\n::set-output name=outcome::hacked\nEOF\n"


GATE = """
on: issue_comment
jobs:
  bot:
    if: contains(github.event.comment.body, '@bot')
    steps: []
"""


def test_s06_a_gate_with_another_phrase_gives_a_warning(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, [], files={".github/workflows/bot.yml": GATE}) as scene:
        issue = scene.ask("The total is wrong.")
        scene.say(issue, "@bot fix it")
        run = scene.run(mention="/exp")
        run.said(outcome="refused", error_code="not-asked")
        assert not run.failed
        [warning] = run.job.log.texts("warning")
        assert "asks for `@bot`, the Action for `/exp`" in warning


def test_s37_where_pull_requests_are_forbidden_there_is_a_link(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        scene.github.forbid_actions_pull_requests()
        issue = scene.ask()
        run = scene.run()
        run.said(
            outcome="resolved",
            error_code="needs-click",
            branch="patchwright/1-wrong-sum",
            pr_number="",
            pr_url="",
        )
        assert not run.failed
        compare = (
            f"{scene.github.web_url}/{REPO}/compare/main...patchwright/1-wrong-sum"
        )
        assert compare in run.summary
        assert compare in scene.reply(issue)


def test_s38_with_the_jobs_own_token_checks_must_be_started(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        scene.ask()
        scene.run().said(outcome="resolved")
        [pull] = scene.github.pull_requests(REPO)
        assert "close and reopen" in pull.body.lower()


def test_s38_with_an_apps_token_checks_start(tmp_path: Path) -> None:
    with playing(tmp_path, fix_turns()) as scene:
        token = scene.app_token()
        scene.ask()
        scene.run(github_token=token).said(outcome="resolved")
        [pull] = scene.github.pull_requests(REPO)
        assert "close and reopen" not in pull.body.lower()
        assert pull.author == "patchwright[bot]"


def test_s78_what_the_workflow_is_granted_is_enough_and_no_right_is_idle(
    tmp_path: Path,
) -> None:
    """Without any one of the rights to write, a story of the others would fail."""
    without = {"issues": "write", "pull_requests": "write", "contents": "read"}
    with playing(tmp_path, fix_turns(), permissions=without) as scene:
        issue = scene.ask()
        run = scene.run()
        assert run["pr-url"] == ""
        assert run.failed
        assert "patchwright:state=" in scene.reply(issue)


def test_s79_nothing_is_fetched_where_the_set_up_is_there(tmp_path: Path) -> None:
    with playing(tmp_path, [call("finish", summary="x", answer="y")]) as scene:
        scene.ask("@patchwright why?")
        machine = make_machine(tmp_path / "offline")
        venv = prepare(machine)
        scene.environment["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
        run = scene.use(scene.make_job(*scene.happened(), machine=machine))
        run.said(outcome="answered")
        assert [one.name for one in machine.temp.glob("*venv*")] == [venv.name]


def test_s79_another_version_than_its_own_is_refused(tmp_path: Path) -> None:
    with playing(tmp_path, []) as scene:
        scene.ask()
        run = scene.run(version="99.0.0")
        run.said(outcome="failed")
        assert run.failed
        assert "99.0.0" in run["summary"]


def test_s80_what_people_and_models_write_is_never_run(tmp_path: Path) -> None:
    with playing(tmp_path, [ANSWER]) as scene:
        scene.ask(BODY, title=TITLE)
        run = scene.run()
        run.said(outcome="answered", pr_url="")
        assert "touch pwned" in run["summary"]
        assert run.job.log.texts("error") == []
        assert list(tmp_path.rglob("pwned")) == []
