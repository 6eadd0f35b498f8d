"""An issue or a pull request on GitHub, given by its URL."""

from collections.abc import Iterator

import pytest

from tests.adapters.cli.terminal import MODEL, Ended, Shop
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.rules import set_rules
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.rule_state import Rules
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import FILES, REPO, fix_turns

BRANCH = "patchwright/1-wrong-sum"
PASTED = "ghp_" + "Ab1" * 12
CLEAR = f"3 pieces cost 450 for all of them, it says {PASTED}."


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """Run a GitHub where alice may write to a shop whose sum is wrong."""
    with FakeGitHub(enterprise=True) as github:
        github.add_user("eve")
        github.add_repository(REPO, default_branch="trunk", files=FILES)
        yield github


def resolve(
    shop: Shop,
    github: FakeGitHub,
    path: str,
    *options: str,
    turns: Script,
    token: str = "",
) -> Ended:
    """Resolve it as alice, or with another token."""
    token = token or github.add_user("alice")
    github.grant(REPO, "alice", "write")
    with FakeProvider(turns) as provider:
        return shop.call(
            "resolve",
            f"{github.web_url}/{REPO}/{path}",
            *("--model", MODEL, "--json"),
            *options,
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                "PATCHWRIGHT_GITHUB__TOKEN": token,
            },
        )


def ask(github: FakeGitHub) -> None:
    github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450 for all of them.")


@pytest.mark.parametrize(
    ("options", "draft"), [([], True), (["--deliver", "ready"], False)]
)
def test_a_url_becomes_a_pull_request(
    options: list[str], *, draft: bool, shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    ended = resolve(shop, github, "issues/1", *options, turns=fix_turns())
    assert (ended.code, ended.err) == (0, "")
    [pull] = github.pull_requests(REPO)
    assert (pull.author, pull.title, pull.draft) == (
        "alice",
        "Count every piece",
        draft,
    )
    assert (pull.base_branch, pull.head_branch) == ("trunk", BRANCH)
    assert "Closes #1" in pull.body
    assert ended.answer["pr_url"] == f"{github.web_url}/{REPO}/pull/{pull.number}"
    assert (ended.answer["branch"], ended.answer["head_sha"]) == (BRANCH, pull.head_sha)
    assert ended.answer["proof"] == "proven"
    assert github.comments(REPO, 1) == []


def test_m8_a_secret_that_was_pasted_is_not_in_the_name_of_the_branch(
    shop: Shop, github: FakeGitHub
) -> None:
    github.open_issue(REPO, "eve", f"{PASTED} is wrong", CLEAR)
    ended = resolve(shop, github, "issues/1", turns=fix_turns())
    assert ended.code == 0, ended.err
    [pull] = github.pull_requests(REPO)
    assert pull.head_branch.startswith("patchwright/1-")
    told = f"{pull.head_branch} {pull.title} {pull.body}".lower()
    assert PASTED[:12].lower().replace("_", "-") not in told
    assert PASTED[:12].lower() not in told


def test_s38_a_workflows_own_token_starts_no_checks_and_that_is_said(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    github.add_user("alice")
    rights = {"contents": "write", "issues": "write", "pull_requests": "write"}
    token = github.mint_actions_token(REPO, rights)
    ended = resolve(shop, github, "issues/1", turns=fix_turns(), token=token)
    assert ended.code == 0, ended.err
    [pull] = github.pull_requests(REPO)
    assert "close and reopen" in pull.body.lower()


@pytest.mark.parametrize(("deliver", "branch"), [("branch", BRANCH), ("none", None)])
def test_no_more_is_delivered_than_is_wanted(
    deliver: str, branch: str | None, shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    ended = resolve(shop, github, "issues/1", "--deliver", deliver, turns=fix_turns())
    assert ended.code == 0
    assert ended.answer["branch"] == branch
    assert ended.answer["pr_url"] is None
    assert github.pull_requests(REPO) == []
    heads = github.git_folder(REPO) / "refs" / "heads"
    assert (heads / BRANCH).exists() is (branch is not None)


def test_what_could_not_be_delivered_has_failed(shop: Shop, github: FakeGitHub) -> None:
    ask(github)
    set_rules(github.world, REPO, Rules(no_new_branches=True))
    ended = resolve(shop, github, "issues/1", turns=fix_turns())
    assert ended.code == 3
    assert (ended.answer["outcome"], ended.answer["reason"]) == (
        "failed",
        "not-delivered",
    )
    shown = shop.call("runs", "show", ended.answer["run_id"][:8], "--json").answer
    assert shown["run"]["outcome"] == "failed"


def test_what_must_be_on_no_branch_there_is_a_patch_here(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    many = call("shell", command="for n in $(seq 301); do echo $n > $n.txt; done")
    finish = call("finish", title="Add numbers", summary="All of them.")
    ended = resolve(shop, github, "issues/1", turns=[many, finish])
    assert (ended.code, ended.answer["reason"]) == (1, "excess")
    [patch] = shop.folder.glob("*.patch")
    assert patch.read_text().count("new file mode") == 301


def test_a_patch_is_written_here_and_nothing_there(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    ended = resolve(shop, github, "issues/1", "--deliver", "patch", turns=fix_turns())
    assert ended.code == 0
    [patch] = shop.folder.glob("*.patch")
    assert "Subject: [PATCH] Count every piece" in patch.read_text()
    assert {request.method for request in github.requests} == {"GET", "POST"}
    posts = [request.path for request in github.requests if request.method == "POST"]
    # Both are reads.
    assert {path.rpartition("/")[2] for path in posts} == {"git-upload-pack", "graphql"}


def test_s32_a_pull_request_of_the_repository_gets_the_commit(
    shop: Shop, github: FakeGitHub
) -> None:
    start = github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
    proposal = Proposal(title="Try x", head="feature/x", base="trunk", body="Mine.")
    number = github.open_pull_request(REPO, "eve", proposal)
    ended = resolve(shop, github, f"pull/{number}/files", turns=fix_turns())
    assert ended.code == 0, ended.err
    [pull] = github.pull_requests(REPO)
    assert (ended.answer["branch"], ended.answer["base_sha"]) == ("feature/x", start)
    assert pull.head_sha == ended.answer["head_sha"]
    assert (pull.title, pull.body) == ("Try x", "Mine.")


def test_s21_a_pull_request_of_a_fork_gets_the_commit_where_maintainers_may_write(
    shop: Shop, github: FakeGitHub
) -> None:
    fork = github.fork(REPO, "eve")
    start = github.commit_files(fork, "patch", {"x.py": "x = 1\n"})
    proposal = Proposal(title="Try x", head="eve:patch", base="trunk", body="Mine.")
    number = github.open_pull_request(REPO, "eve", proposal)
    ended = resolve(shop, github, f"pull/{number}", turns=fix_turns())
    assert ended.code == 0, ended.err
    assert ended.answer["base_sha"] == start
    assert ended.answer["branch"] == "patch"
    [pull] = github.pull_requests(REPO)
    assert pull.head_sha == ended.answer["head_sha"] != start


def call_here(
    shop: Shop, github: FakeGitHub, *arguments: str, turns: Script, env: dict[str, str]
) -> Ended:
    """Resolve with what alice types, in the folder that the checkout is in."""
    with FakeProvider(turns) as provider:
        return shop.call(
            *("resolve", *arguments, "--model", "openai/gpt-4o"),
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                **env,
            },
        )


def token_of(github: FakeGitHub, login: str) -> dict[str, str]:
    token = github.add_user(login)
    github.grant(REPO, login, "write")
    return {"PATCHWRIGHT_GITHUB__TOKEN": token}


PLAN = call("finish", summary="A plan.", answer="1. Multiply by the pieces.")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            ["-C", "shop", "1"],
            "Issue 1 of acme/shop (acme/shop is the remote upstream)",
        ),
        (["-C", "shop", "--issue", "1"], None),
        (["acme/shop#1"], "Issue 1 of acme/shop"),
        (["--repo", "acme/shop", "--issue", "1"], None),
        (["--repo", "{web}/acme/shop", "1"], None),
        (["{web}/acme/shop/issues/1"], "Issue 1 of acme/shop"),
    ],
)
def test_an_issue_may_be_named_in_all_usual_ways(
    typed: list[str], said: str | None, shop: Shop, github: FakeGitHub
) -> None:
    def read(request: Request) -> TurnLike:
        assert "3 pieces cost 450 for all of them." in asked(request)
        return PLAN

    ask(github)
    add_remotes(shop, github)
    typed = [word.format(web=github.web_url) for word in typed]
    env = token_of(github, "alice")
    ended = call_here(shop, github, *typed, "--plan", turns=in_turn(read), env=env)
    assert ended.code == 0, ended.err
    if said is not None:
        assert ended.err.splitlines()[0] == said


def add_remotes(shop: Shop, github: FakeGitHub) -> None:
    """Make the shop a clone of alice's fork."""
    shop.tree.git("remote", "add", "origin", f"{github.web_url}/alice/shop.git")
    shop.tree.git("remote", "add", "upstream", f"{github.web_url}/{REPO}.git")


def test_an_issue_of_a_checkout_is_worked_on_beside_it(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    add_remotes(shop, github)
    env = token_of(github, "alice")
    ended = call_here(shop, github, "-C", "shop", "1", turns=fix_turns(), env=env)
    assert ended.code == 0, ended.err
    [pull] = github.pull_requests(REPO)
    assert (pull.draft, pull.head_branch) == (True, BRANCH)
    assert shop.branches() == []


def test_a_number_may_be_that_of_a_pull_request(shop: Shop, github: FakeGitHub) -> None:
    github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
    proposal = Proposal(title="Try x", head="feature/x", base="trunk", body="Mine.")
    number = github.open_pull_request(REPO, "eve", proposal)
    env = token_of(github, "alice")
    ended = call_here(shop, github, f"acme/shop#{number}", turns=fix_turns(), env=env)
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[0] == f"Pull request {number} of acme/shop"
    [pull] = github.pull_requests(REPO)
    assert pull.head_branch == "feature/x"


def test_a_plan_for_an_issue_writes_nothing_there(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    turns = [PLAN]
    ended = resolve(shop, github, "issues/1", "--plan", turns=turns)
    assert ended.code == 0, ended.err
    assert ended.answer["outcome"] == "plan-posted"
    assert "run the same command without --plan" in ended.answer["notes"][-1]
    assert github.pull_requests(REPO) == []
    assert github.comments(REPO, 1) == []


TOLD = "The token is from the section `github` of your settings."


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("acme/shop#99", "acme/shop has no issue 99, or the token cannot see it."),
        (
            "{web}/acme/shop/pull/99",
            "acme/shop has no pull request 99, or the token cannot see it.",
        ),
        (
            "acme/shap#1",
            "there is no repository acme/shap, or the token cannot see it.",
        ),
    ],
)
def test_what_github_does_not_have_is_wrong_usage(
    path: str, said: str, shop: Shop, github: FakeGitHub
) -> None:
    env = token_of(github, "alice")
    word = path.format(web=github.web_url)
    ended = call_here(shop, github, word, turns=[], env=env)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {said} {TOLD}\n"
    as_object = call_here(shop, github, word, "--json", turns=[], env=env)
    assert as_object.code == 2
    assert as_object.answer["reason"] == "not-found"


def test_named_tests_are_those_of_the_run(shop: Shop, github: FakeGitHub) -> None:
    ask(github)
    named = "python3 -m unittest test_pieces"
    ended = resolve(shop, github, "issues/1", "--test", named, turns=fix_turns())
    assert ended.code == 0, ended.err
    assert named in [one["command"] for one in ended.answer["evidence"]]


def test_who_may_not_write_there_is_refused_before_a_model_is_asked(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    token = github.add_user("mallory")
    ended = resolve(shop, github, "issues/1", turns=[], token=token)
    assert (ended.answer["outcome"], ended.answer["reason"]) == (
        "refused",
        # Who may not write there is not told by GitHub what they may do.
        "permission-unknown",
    )
    assert "--deliver patch" in ended.answer["summary"]
    assert ended.answer["iterations"] == 0
    assert github.comments(REPO, 1) == []
    shown = shop.call("runs", "show", ended.answer["run_id"][:8], "--json").answer
    assert shown["run"]["outcome"] == "refused"


def test_who_may_only_read_there_gets_a_patch_here(
    shop: Shop, github: FakeGitHub
) -> None:
    ask(github)
    token = github.add_user("mallory")
    ended = resolve(
        shop,
        github,
        "issues/1",
        *("--deliver", "patch"),
        turns=fix_turns(),
        token=token,
    )
    assert (ended.code, ended.answer["proof"]) == (0, "proven")
    assert len(list(shop.folder.glob("*.patch"))) == 1
