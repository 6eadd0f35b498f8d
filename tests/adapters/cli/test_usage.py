"""Wrong usage ends at once with exit code 2 and a sentence that says what to do."""

import pytest

from tests.adapters.cli.terminal import Shop
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call

LOCAL = ["-C", "shop", "--file", "issue.md"]
URL = "https://github.com/acme/shop/issues/7"
MODEL = ["--model", "openai/gpt-4o"]
FORMS = """\
  patchwright resolve 7                         issue 7 of this checkout's repository
  patchwright resolve acme/shop#7               issue 7 of another repository
  patchwright resolve https://HOST/acme/shop/issues/7
  patchwright resolve '!5'                      merge request 5 of this checkout
  patchwright resolve "The cart adds up wrong"  a task in words, for this checkout
  patchwright resolve --task TEXT               the same
  patchwright resolve --file bug.md             a task from a file
  patchwright resolve -                         a task from standard input
With -C FOLDER it works in the checkout in another folder."""
NO_MODEL = (
    "llm.model: not set; no run can start without it: set LLM_MODEL, for example to "
    "anthropic/claude-sonnet-4-5, and LLM_API_KEY"
)
NO_TOKEN = """\
there is no token for github.com. Do one of these:
  log in with `gh auth login`
  set GH_TOKEN or GITHUB_TOKEN
  set PATCHWRIGHT_GITHUB__TOKEN, or github.token in a settings file"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], f"say what to work on, in one of these forms:\n{FORMS}"),
        (
            ["-C", "shop"],
            f"say what to work on, in one of these forms:\n{FORMS}",
        ),
        (
            ["refactor"],
            (
                "refactor is not a number or a URL, and a task has several words. "
                f"The forms are:\n{FORMS}"
            ),
        ),
        (["issue.md"], "issue.md is a file; use --file issue.md"),
        (
            ["shop"],
            "shop is a folder; use -C shop with a number or a task in quotes",
        ),
        (
            ["--file", "issue.md", "--task", "Fix the sum."],
            "--file and --task name more than one thing to work on; keep one",
        ),
        (
            [URL, *LOCAL],
            f"'{URL}' and --file name more than one thing to work on; keep one",
        ),
        (
            [URL, "-C", "shop"],
            f"'{URL}' already names the repository: leave out -C",
        ),
        (
            [URL, "--apply"],
            (
                "--apply is for a task in a checkout; for an issue on the forge, "
                "fetch the branch of the pull request"
            ),
        ),
        (
            ["--repo", "./folder", "--issue", "7"],
            "--repo is OWNER/NAME; for a folder use -C ./folder",
        ),
        (
            ["--issue", "bug.md"],
            "--issue is a number; for a file use --file bug.md",
        ),
        (["-"], "standard input is empty; write the task there"),
        (["--task", " "], "--task is empty; write the task"),
        (LOCAL, NO_MODEL),
        (["the cart is wrong"], NO_MODEL),
        (
            [*LOCAL, *MODEL, "--deliver", "draft"],
            (
                "--deliver draft opens a pull request and needs an issue on the "
                "forge; for a task in a checkout use branch, patch or none"
            ),
        ),
        (
            [*LOCAL, "--plan", "--deliver", "patch"],
            (
                "--plan changes nothing: leave out --deliver and --apply, and use "
                "them when you carry the plan out"
            ),
        ),
        (
            ["-C", "gone", "--file", "issue.md", *MODEL],
            "-C: gone is not a folder",
        ),
        (
            ["--file", "gone.md", *MODEL],
            "--file: gone.md cannot be read: No such file or directory",
        ),
        (
            ["--file", "/dev/null", *MODEL],
            "/dev/null is empty; write the task there",
        ),
        (
            [*LOCAL, *MODEL, "--events", "issue.md"],
            "the events cannot be written: [Errno 17] File exists: 'issue.md'",
        ),
        ([URL, *MODEL], NO_TOKEN),
        (["acme/shop#7", *MODEL], NO_TOKEN),
        (["--repo", "acme/shop", "--issue", "7", *MODEL], NO_TOKEN),
        (["--repo", "https://github.com/acme/shop", "--issue", "7", *MODEL], NO_TOKEN),
        (
            ["7", "-C", "shop", *MODEL],
            (
                "no remote of this checkout is on https://github.com (it has no "
                "remotes); use OWNER/NAME#7. For another host set github.api_url or "
                "gitlab.base_url"
            ),
        ),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], said: str, shop: Shop) -> None:
    ended = shop.call("resolve", *arguments)
    assert ended.err == f"error: {said}\n"
    assert (ended.code, ended.out) == (2, "")
    assert shop.sandboxes() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*MODEL, "--sandbox", "moon"], "'moon' is not one of"),
        ([*MODEL, "--deliver", "mail"], "'mail' is not one of"),
        ([*MODEL, "--timeout", "soon"], "'soon' is not a time; use minutes, or 90s"),
        ([*MODEL, "--max-iterations", "0"], "limits.max_iterations"),
        ([*MODEL, "--max-cost", "-1"], "limits.max_cost_usd"),
        ([*MODEL, "--colour"], "No such option: --colour"),
        ([*MODEL, "-C", "/usr"], "error: -C: /usr is not a git repository"),
        (["--config", "gone.toml"], "gone.toml: cannot be read"),
    ],
)
def test_wrong_values_are_named(arguments: list[str], said: str, shop: Shop) -> None:
    ended = shop.call("resolve", "--file", "issue.md", *arguments)
    assert said in " ".join(ended.err.replace("│", " ").split())
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err
    assert shop.sandboxes() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["prove", "--base", "trunk", "--repo", "shop"],
            "--repo is OWNER/NAME; for a folder use -C shop",
        ),
        (
            ["replay", "x.jsonl", "--rerun", "--repo", "shop"],
            "--repo is OWNER/NAME; for a folder use -C shop",
        ),
        (
            ["help", "runs", "lst"],
            "patchwright runs has no command lst; did you mean list?",
        ),
        (
            ["help", "xyz"],
            "patchwright has no command xyz; `patchwright -h` shows its help",
        ),
    ],
)
def test_other_commands_say_what_is_right_too(
    arguments: list[str], said: str, shop: Shop
) -> None:
    ended = shop.call(*arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {said}\n")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/acme/shop/issues/7",
        "{web}.evil.example/acme/shop/issues/7",
        "{web}/acme/shop/tree/7",
        "{web}/acme/shop/issues/seven",
        "{web}/acme/../issues/7",
    ],
)
def test_a_token_goes_to_no_other_host(url: str, shop: Shop) -> None:
    with FakeGitHub() as github, FakeProvider([call("finish")]) as provider:
        ended = shop.call(
            "resolve",
            url.format(web=github.web_url),
            "--model",
            "openai/m",
            provider=provider,
            settings={
                "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
                "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
                "PATCHWRIGHT_GITHUB__TOKEN": "ghp_" + "Ab1" * 12,
            },
        )
        assert github.requests == []
    assert ended.code == 2
    assert "is not an issue or pull request on" in " ".join(ended.err.split())
    assert provider.requests == []
