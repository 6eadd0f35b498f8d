"""Web and worker in one process, on SQLite and with no other service."""

from pathlib import Path

import pytest

from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.story import MODEL_KEY, WEBHOOK_SECRET, fix_turns
from tests.provision.starter import ready_starter
from tests.service import proc
from tests.service.processes import START_S
from tests.service.stage import Stage, staged

# What performance asks of an idle service; litellm alone would take 190.
IDLE_MB = 160
# A supervisor is patient for ten seconds or more.
PROMPT_S = 8.0


def test_an_idle_service_is_small_and_stops_at_once(tmp_path: Path) -> None:
    with staged(tmp_path, []) as stage:
        # The first start of all needs the libraries of migrations as well.
        ended = ready_starter().run(
            "db", "upgrade", cwd=tmp_path, env=stage.environment, timeout=START_S
        )
        assert ended.returncode == 0
        with stage.serving_cold("all") as service:
            service.wait_until_ready()
            assert proc.resident_mb(service.pid) < IDLE_MB
            assert service.stop() < PROMPT_S


def test_a_signed_webhook_becomes_a_pull_request_and_a_readable_log(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, fix_turns()) as stage, stage.serving("all") as service:
        service.wait_until_ready()
        pull = stage.finish(stage.ask(service))
        assert not pull.draft
        service.stop()
        assert stage.nothing_is_left()
        lines = service.lines()
        assert all(
            {"timestamp", "severity", "message"} <= line.keys() for line in lines
        )
        [end] = [line for line in lines if line["message"] == "job_finished"]
        assert {"conversation_id", "user_id", "job_id"} <= end.keys()
        text = service.log.read_text()
        assert [secret for secret in _secrets(stage) if secret in text] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("waits_for", "first_turn"),
    [("the model", hang()), ("a command", call("shell", command="sleep 612.5"))],
)
def test_sigterm_in_mid_run_leaves_nothing_and_the_next_process_finishes_the_job(
    tmp_path: Path, waits_for: str, first_turn: TurnLike
) -> None:
    with staged(tmp_path, [first_turn, *fix_turns()]) as stage:
        with stage.serving("all") as service:
            service.wait_until_ready()
            number = stage.ask(service)
            stage.models_turn(1)
            if waits_for == "a command":
                stage.wait(lambda: _sleeps(service.descendants()), "the command")
            children = service.descendants()
            assert children
            assert service.stop() < PROMPT_S
        assert [child for child in children if child.is_alive] == []
        assert stage.nothing_is_left()
        with stage.serving("all"):
            assert not stage.finish(number).draft


def _sleeps(processes: list[proc.Seen]) -> bool:
    return any(process.command == "sleep 612.5" for process in processes)


def _secrets(stage: Stage) -> list[str]:
    key = stage.environment["PATCHWRIGHT_GITHUB__PRIVATE_KEY"]
    return [MODEL_KEY, WEBHOOK_SECRET, *key.splitlines()[1:-1], "ghs_"]
