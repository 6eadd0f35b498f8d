"""`patchwright doctor` as a process, beside a service in good and in bad states."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.github.acts.hooks import listen_at
from tests.flow.story import MODEL_KEY, WEBHOOK_SECRET
from tests.provision.servers import free_port
from tests.provision.starter import ready_starter
from tests.provision.waiting import wait_until
from tests.service.offices import address
from tests.service.processes import START_S
from tests.service.stage import Stage, staged

FINE, FAILED, WRONG_CONFIGURATION = 0, 1, 2
PRICES = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.000001",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.000002",
}


def doctor(
    environment: Mapping[str, str], folder: Path, *words: str
) -> "subprocess.CompletedProcess[str]":
    return ready_starter().run(
        "doctor", *words, cwd=folder, env=environment, timeout=START_S
    )


def by_name(ended: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    told = json.loads(ended.stdout)
    assert told["ok"] is (ended.returncode == FINE)
    return {check["name"]: check for check in told["checks"]}


@pytest.mark.long
def test_a_service_that_works_passes_and_one_that_broke_is_told_how_to_mend_it(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, (), PRICES) as stage:
        _passes_while_it_works(stage)
        _tells_what_broke(stage)


def _passes_while_it_works(stage: Stage) -> None:
    with stage.serving("all") as service:
        service.wait_until_ready()
        listen_at(stage.github.world, address(service, "github"))
        public = {"PATCHWRIGHT_SERVER__PUBLIC_URL": service.url}
        _wait_until_shown(stage)
        ended = doctor({**stage.environment, **public}, stage.folder, "--json")
        named = ("--only", "processes", "--only", "github")
        shown = doctor({**stage.environment, **public}, stage.folder, *named)
        assert not service.has_said("delivery_stored")
        # Killed, it would be taken for alive for half a minute.
        service.stop()
    checks = by_name(ended)
    states = {name: check["status"] for name, check in checks.items()}
    assert ended.returncode == FINE, ended.stdout
    assert set(states.values()) == {"ok", "skipped"}, ended.stdout
    assert [name for name, state in states.items() if state == "skipped"] == [
        "gitlab",
        "gitlab-permissions",
        "gitlab-webhook",
        "gitlab-deliveries",
        "oidc",
        "slack",
        "slack-socket",
        "jira",
        "jira-projects",
        "linear",
        "linear-teams",
        "repositories",
    ]
    assert checks["processes"]["found"] == "1 all"
    assert checks["public-url"]["found"] == f"{service.url} is this service"
    assert shown.returncode == FINE
    lines = shown.stdout.splitlines()
    assert lines[0] == "ok       processes           1 all"
    assert lines[1].startswith("ok       github              patchwright[bot], in 1 ")
    assert lines[-1] == "5 ok"
    for one in (ended, shown):
        assert one.stderr == ""
        _keeps_secrets(stage, one)


def _wait_until_shown(stage: Stage) -> None:
    """Wait until the process has said once more how it is, after all of it started."""

    def works() -> bool:
        ended = doctor(stage.environment, stage.folder, "--json", "--only", "processes")
        return bool(by_name(ended)["processes"]["status"] == "ok")

    wait_until(works, "all parts of the process work", 5)


def _tells_what_broke(stage: Stage) -> None:
    """Examine it when its process, its address and the App's key are gone."""
    url = f"http://127.0.0.1:{free_port()}"
    broken = {
        **stage.environment,
        "PATCHWRIGHT_SERVER__PUBLIC_URL": url,
        "PATCHWRIGHT_GITHUB__PRIVATE_KEY": stage.github.add_app(5, "other", "x"),
        "LLM_API_KEY": "sk-wrong-0123456789abcdef",
    }
    ended = doctor(broken, stage.folder, "--json", "--spend")
    checks = by_name(ended)
    assert ended.returncode == FAILED
    failed = [one for one in checks.values() if one["status"] == "failed"]
    assert {one["name"] for one in failed} == {
        "model",
        "github",
        "github-permissions",
        "github-webhook",
        "github-deliveries",
        "public-url",
    }
    assert all(one["fix"] for one in failed)
    assert checks["processes"]["status"] == "warning"
    shown = doctor(broken, stage.folder, "--only", "github")
    assert shown.returncode == FAILED
    assert (
        "failed   github              GitHub answered 401: A JSON web token could "
        "not be decoded\n"
        "                           > github.private_key must be a key of the App "
        "github.app_id" in shown.stdout
    )
    for one in (ended, shown):
        assert "sk-wrong-0123456789abcdef" not in one.stdout + one.stderr
        _keeps_secrets(stage, one)


def test_wrong_settings_are_told_as_an_object_too_and_end_with_2(
    tmp_path: Path,
) -> None:
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "LLM_MODEL": "openai/x"}
    unknown = {**environment, "PATCHWRIGHT_GITHUB__WEBHOOK_SECRETS": "s3cret"}
    ended = doctor(unknown, tmp_path, "--json")
    assert ended.returncode == WRONG_CONFIGURATION
    [told] = by_name(ended).values()
    assert told["found"] == "they cannot be read"
    assert "the nearest known one is github.webhook_secret" in told["fix"]
    half = {**environment, "PATCHWRIGHT_GITHUB__TOKEN": "ghp_x"}
    ended = doctor(half, tmp_path, "--only", "settings")
    assert ended.returncode == WRONG_CONFIGURATION
    assert "> github.webhook_secret: not set" in ended.stdout
    assert doctor(environment, tmp_path, "--only", "dbase").returncode == 2
    assert list(tmp_path.iterdir()) == []


def _keeps_secrets(stage: Stage, ended: "subprocess.CompletedProcess[str]") -> None:
    key = stage.environment["PATCHWRIGHT_GITHUB__PRIVATE_KEY"]
    for secret in (MODEL_KEY, WEBHOOK_SECRET, key[40:80]):
        assert secret not in ended.stdout + ended.stderr
