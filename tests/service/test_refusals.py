"""What the service refuses to start with, and how it says so."""

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from patchwright.core.settings.environment import process_environment
from tests.provision.servers import free_port
from tests.provision.starter import ready_starter
from tests.service.processes import START_S

WRONG_CONFIGURATION, FAILED = 2, 3
THREE_FAULTS = """\
error: github.webhook_secret: not set; without it anybody could send webhooks: \
set PATCHWRIGHT_GITHUB__WEBHOOK_SECRET
security.encryption_keys: not set; processes that share a database need the same key: \
set PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS to `id:` and the base64 of 32 random bytes
queue.broker_url: a worker process needs a broker that all processes share: \
set PATCHWRIGHT_QUEUE__BROKER_URL to redis://HOST
"""
UNKNOWN_KEY = """\
error: github.webhook_secrets: unknown key, found in environment variable \
PATCHWRIGHT_GITHUB__WEBHOOK_SECRETS; the nearest known one is github.webhook_secret \
(PATCHWRIGHT_GITHUB__WEBHOOK_SECRET)
"""
HALF_CONFIGURED = """\
error: slack.signing_secret: not set; without it anybody could send webhooks: \
set PATCHWRIGHT_SLACK__SIGNING_SECRET
jira.token: not set; the bot cannot read or answer without it: \
set PATCHWRIGHT_JIRA__TOKEN
jira.user: not set; an API token needs the e-mail address of its user: \
set PATCHWRIGHT_JIRA__USER
"""
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    ended = _serve(
        tmp_path,
        "worker",
        PATCHWRIGHT_GITHUB__WEBHOOK_SECRET="",
        PATCHWRIGHT_DATABASE__URL="postgresql://127.0.0.1/patchwright",
    )
    assert ended.returncode == WRONG_CONFIGURATION
    assert ended.stderr == THREE_FAULTS


def test_a_service_says_which_model_and_which_key_it_lacks(tmp_path: Path) -> None:
    ended = _serve(tmp_path, "all", LLM_MODEL="", PATCHWRIGHT_LLM__MODEL="")
    assert ended.returncode == WRONG_CONFIGURATION
    assert ended.stderr == (
        "error: llm.model: not set; no run can start without it: set LLM_MODEL, for "
        "example to anthropic/claude-sonnet-4-5, and LLM_API_KEY\n"
    )
    without_key = {"LLM_MODEL": "anthropic/claude-sonnet-4-5", "LLM_API_KEY": ""}
    ended = _serve(tmp_path, "all", **without_key, ANTHROPIC_API_KEY="")
    assert (ended.returncode, ended.stderr) == (
        WRONG_CONFIGURATION,
        "error: No API key for anthropic. Set ANTHROPIC_API_KEY or LLM_API_KEY.\n",
    )


def test_half_a_slack_and_half_a_jira_are_told_by_the_names_of_what_is_missing(
    tmp_path: Path,
) -> None:
    ended = _serve(
        tmp_path,
        "all",
        PATCHWRIGHT_SLACK__BOT_TOKEN="xoxb-1",
        PATCHWRIGHT_JIRA__BASE_URL="https://acme.atlassian.net",
    )
    assert ended.returncode == WRONG_CONFIGURATION
    assert ended.stderr == HALF_CONFIGURED


def test_an_unknown_key_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    ended = _serve(tmp_path, "all", PATCHWRIGHT_GITHUB__WEBHOOK_SECRETS="s3cret")
    assert ended.returncode == WRONG_CONFIGURATION
    assert ended.stderr == UNKNOWN_KEY


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = _serve(tmp_path, "all", PATCHWRIGHT_SERVER__PORT=str(port))
    assert ended.returncode == FAILED
    assert ended.stderr.splitlines()[-1] == (
        f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; "
        "choose another with --port or PATCHWRIGHT_SERVER__PORT"
    )
    assert "Traceback" not in ended.stderr


def test_a_database_that_does_not_answer_is_no_traceback(tmp_path: Path) -> None:
    port = free_port()
    ended = _serve(
        tmp_path,
        "all",
        PATCHWRIGHT_SERVER__PORT="0",
        PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS=f"k1:{'A' * 43}=",
        PATCHWRIGHT_DATABASE__URL=f"postgresql://bot:s3cret@127.0.0.1:{port}/p",
    )
    assert ended.returncode == FAILED
    assert "error: the database cannot be used: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "s3cret" not in ended.stderr


def _serve(folder: Path, role: str, **more: str) -> "subprocess.CompletedProcess[str]":
    environment: Mapping[str, str] = {
        "PATH": process_environment()["PATH"],
        "HOME": str(folder),
        "COLUMNS": "1000",
        "PATCHWRIGHT_GITHUB__TOKEN": TOKEN,
        "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "s3cret",
        "LLM_MODEL": "openai/scripted",
        "LLM_API_KEY": "sk-test",
        **more,
    }
    return ready_starter().run(
        "serve", "--role", role, cwd=folder, env=environment, timeout=START_S
    )
