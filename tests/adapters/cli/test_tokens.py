"""The token for the forge: from the settings, the usual variables, or `gh` itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import MODEL, Ended, Shop
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call
from tests.flow.story import FILES, REPO, fix_turns

# Each runs the whole program.
pytestmark = pytest.mark.long

WRONG = "ghp_" + "Wr0ng" * 7


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """Run a GitHub with an issue in a shop whose sum is wrong."""
    with FakeGitHub(enterprise=True) as github:
        github.add_user("eve")
        github.add_repository(REPO, default_branch="trunk", files=FILES)
        github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450 for all.")
        yield github


def token_of_alice(github: FakeGitHub) -> str:
    token = github.add_user("alice")
    github.grant(REPO, "alice", "write")
    return token


def log_in_with_gh(shop: Shop, github: FakeGitHub, script: str) -> dict[str, str]:
    """Install a `gh` that answers for the one host, and return a PATH that has it."""
    programs = shop.folder / "bin"
    programs.mkdir()
    program = programs / "gh"
    host = github.web_url.partition("://")[2]
    program.write_text(
        f'#!/bin/sh\n[ "$*" = "auth token --hostname {host}" ] || exit 9\n{script}\n'
    )
    program.chmod(0o755)
    path = shop.environment(None)["PATH"]
    return {"PATH": f"{programs}:{path}"}


def resolve(
    shop: Shop, github: FakeGitHub, env: dict[str, str], *options: str
) -> Ended:
    with FakeProvider(fix_turns()) as provider:
        return shop.call(
            *("resolve", "acme/shop#1", "--model", MODEL, *options),
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                **env,
            },
        )


@pytest.mark.parametrize("name", ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"])
def test_the_variables_of_gh_are_enough(
    name: str, shop: Shop, github: FakeGitHub
) -> None:
    env = {name: token_of_alice(github)}
    ended = resolve(shop, github, env, "-v")
    assert ended.code == 0, ended.err
    [pull] = github.pull_requests(REPO)
    assert pull.author == "alice"
    assert f"found_in={name}" in ended.err


def test_the_first_place_wins(shop: Shop, github: FakeGitHub) -> None:
    token = token_of_alice(github)
    gh = log_in_with_gh(shop, github, f"echo {WRONG}")
    variables = {"GH_ENTERPRISE_TOKEN": token, "GITHUB_ENTERPRISE_TOKEN": WRONG}
    assert resolve(shop, github, {**gh, **variables}).code == 0
    settings = {"PATCHWRIGHT_GITHUB__TOKEN": token, "GH_ENTERPRISE_TOKEN": WRONG}
    again = resolve(shop, github, {**gh, **settings}, "--json")
    # The first pull request has it all.
    assert (again.code, again.answer["outcome"]) == (1, "no-change")


def test_the_token_of_gh_is_asked_for_and_seen_nowhere(
    shop: Shop, github: FakeGitHub
) -> None:
    token = token_of_alice(github)
    env = log_in_with_gh(shop, github, f"echo {token}")
    look = call("shell", command="env; cat ~/.config/gh/* 2>/dev/null; git config -l")
    with FakeProvider([look, *fix_turns()]) as provider:
        ended = shop.call(
            *("resolve", "acme/shop#1", "--model", MODEL, "-v", "--events", "e.jsonl"),
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                **env,
            },
        )
        asked = str(provider.requests)
    assert ended.code == 0, ended.err
    assert "found_in='`gh auth token --hostname " in ended.err
    events = (shop.folder / "e.jsonl").read_text()
    for told in (ended.out, ended.err, events, asked):
        assert token not in told


@pytest.mark.parametrize(
    "script", ["exit 1", "echo", "echo no token here", "echo >&2 ghp_x", "kill $$"]
)
def test_without_any_token_three_ways_are_named(
    script: str, shop: Shop, github: FakeGitHub
) -> None:
    env = log_in_with_gh(shop, github, script)
    # Those are for github.com, and this is another host.
    env |= {"GH_TOKEN": WRONG, "GITHUB_TOKEN": WRONG}
    ended = resolve(shop, github, env)
    host = github.web_url.partition("://")[2]
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: there is no token for {host}. Do one of these:\n"
        f"  log in with `gh auth login --hostname {host}`\n"
        "  set GH_ENTERPRISE_TOKEN or GITHUB_ENTERPRISE_TOKEN\n"
        "  set PATCHWRIGHT_GITHUB__TOKEN, or github.token in a settings file\n"
    )
    assert github.requests == []


def test_a_program_in_the_current_folder_is_not_asked(
    shop: Shop, github: FakeGitHub
) -> None:
    log_in_with_gh(shop, github, f"touch {shop.folder}/asked; echo {WRONG}")
    Path(shop.folder / "bin" / "gh").rename(shop.folder / "gh")
    path = shop.environment(None)["PATH"]
    ended = resolve(shop, github, {"PATH": f".:{path}"})
    assert ended.code == 2
    assert not (shop.folder / "asked").exists()


def test_a_token_that_is_not_accepted_is_named_by_its_place(
    shop: Shop, github: FakeGitHub
) -> None:
    ended = resolve(shop, github, {"GH_ENTERPRISE_TOKEN": WRONG}, "--json")
    assert ended.code == 3
    assert ended.answer["reason"] == "bad-credential"
    assert ended.answer["summary"].endswith("The token is from GH_ENTERPRISE_TOKEN.")
    assert WRONG not in ended.out + ended.err


def test_a_token_that_may_only_read_is_named_by_its_place(
    shop: Shop, github: FakeGitHub
) -> None:
    env = {"GITHUB_ENTERPRISE_TOKEN": github.add_user("mallory")}
    ended = resolve(shop, github, env, "--json")
    assert (ended.code, ended.answer["outcome"]) == (1, "refused")
    told = ended.answer["summary"]
    assert told.endswith("The token is from GITHUB_ENTERPRISE_TOKEN.")


def test_doctor_has_the_token_that_resolve_would_use(
    shop: Shop, github: FakeGitHub
) -> None:
    settings = {
        "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
        "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
        "GH_ENTERPRISE_TOKEN": token_of_alice(github),
    }
    ended = shop.call("doctor", "--for", "resolve", "--json", settings=settings)
    [found] = [one for one in ended.answer["checks"] if one["name"] == "github"]
    assert found["status"] == "ok", found
    assert "alice" in found["found"]
