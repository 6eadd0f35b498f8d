"""However a run ends, one JSON object says so on standard output."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.cli.terminal import MODEL, Ended, Shop
from tests.adapters.cli.test_local import PROMISED
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import FILES, REPO, fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

PULLS_ALLOWED = {"contents": "write", "pull_requests": "write", "issues": "write"}


def answer_of(ended: Ended) -> dict[str, Any]:
    """Return the one object, which must have all of its keys, in their order."""
    assert len(ended.out.splitlines()) == 1, ended.out
    answer: dict[str, Any] = json.loads(ended.out)
    assert list(answer) == PROMISED
    return answer


@pytest.mark.parametrize(
    ("arguments", "settings", "reason", "code"),
    [
        (["-C", "nowhere", "--file", "issue.md"], {}, "configuration", 2),
        ([], {}, "configuration", 2),
        (
            ["-C", "shop", "--file", "issue.md"],
            {"PATCHWRIGHT_LIMITS__MAX_COST": "1"},
            "configuration",
            2,
        ),
        (
            ["-C", "shop", "--file", "issue.md"],
            {
                "PATCHWRIGHT_SANDBOX__KIND": "docker",
                "DOCKER_HOST": "unix:///nowhere/docker.sock",
            },
            "sandbox",
            3,
        ),
    ],
    ids=["no-repository", "nothing-to-do", "unknown-key", "no-engine"],
)
def test_s41_a_run_that_could_not_start_is_an_object_too(
    arguments: list[str],
    settings: Mapping[str, str],
    reason: str,
    code: int,
    shop: Shop,
) -> None:
    ended = shop.call(
        "resolve", *arguments, "--model", MODEL, "--json", settings=settings
    )
    answer = answer_of(ended)
    assert (answer["outcome"], answer["reason"]) == ("failed", reason), answer
    assert " ".join(answer["summary"].split()) in " ".join(ended.err.split())
    assert ended.code == code
    assert "Traceback" not in ended.err


def test_s41_an_error_is_an_object_too(shop: Shop) -> None:
    mirrors = Path(shop.folder, "state", "mirrors")
    mirrors.parent.mkdir()
    mirrors.write_text("no folder")
    with FakeGitHub(enterprise=True) as github:
        answer, ended = _resolve(shop, github, github.add_user("alice"), [])
    assert (answer["outcome"], answer["reason"]) == ("failed", "internal")
    assert "FileExistsError" in ended.err
    assert ended.code == 3


def test_s41_a_failing_service_loses_no_figures(shop: Shop) -> None:
    def lose(_request: Request) -> TurnLike:
        github.fail_next("POST", "/pulls$", 503, times=99)
        return finish

    *steps, finish = fix_turns()
    with FakeGitHub(enterprise=True) as github:
        token = github.add_user("alice")
        answer, ended = _resolve(shop, github, token, [*steps, finish], lose)
    assert (answer["outcome"], answer["reason"]) == ("failed", "service-unavailable")
    assert (answer["iterations"], answer["tokens"]["in"]) == (4, 400)
    assert ended.code == 3


def test_s37_a_workflows_token_that_may_not_open_pull_requests_says_what_helps(
    shop: Shop,
) -> None:
    with FakeGitHub(enterprise=True) as github:
        github.forbid_actions_pull_requests()
        answer, ended = _resolve(shop, github, "", fix_turns())
        heads = github.git_folder(REPO) / "refs" / "heads" / "patchwright"
        assert len(list(heads.iterdir())) == 1
    assert answer["outcome"] == "resolved"
    assert answer["pr_url"] is None
    assert (
        "Not delivered: GitHub Actions cannot open pull requests here."
        in (answer["summary"])
    )
    assert f"/{REPO}/compare/main...{answer['branch']}" in answer["summary"]
    assert ended.code == 0


def _resolve(
    shop: Shop,
    github: FakeGitHub,
    token: str,
    turns: list[TurnLike],
    last: Any = None,
) -> tuple[dict[str, Any], Ended]:
    """Resolve alice's issue with a token; without one, with that of a workflow."""
    github.add_user("bo")
    github.add_repository(REPO, files=FILES)
    github.grant(REPO, "alice", "write")
    number = github.open_issue(REPO, "bo", "Wrong sum", "3 pieces cost 450.")
    script = in_turn(*turns[:-1], last) if last else turns
    with FakeProvider(script) as provider:
        ended = shop.call(
            *("resolve", f"{github.web_url}/{REPO}/issues/{number}"),
            *("--model", MODEL, "--json"),
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                "PATCHWRIGHT_GITHUB__TOKEN": token
                or github.mint_actions_token(REPO, PULLS_ALLOWED),
            },
        )
    return answer_of(ended), ended
