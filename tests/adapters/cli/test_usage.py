"""Wrong usage ends at once with exit code 2 and a sentence that says what to do."""

import pytest

from tests.adapters.cli.terminal import Shop
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call

LOCAL = ["--repo", "shop", "--issue", "issue.md"]
URL = "https://github.com/acme/shop/issues/7"
SOURCE = (
    "error: say what to work on: the URL of an issue, or --issue FILE or --task TEXT"
)
BOTH = "error: a URL already names the issue and the repository: leave out --repo"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], SOURCE),
        (["--repo", "shop"], SOURCE),
        (["--issue", "issue.md", "--task", "Fix the sum."], SOURCE),
        ([URL, *LOCAL], BOTH),
        ([URL, "--task", "Fix the sum."], BOTH),
        ([URL, "--apply"], "error: --apply is for a repository on this machine"),
        (
            ["--issue", "issue.md", "--model", "openai/m"],
            "error: --repo: . is not a git repository",
        ),
        (
            ["--issue", "-", "--model", "openai/m"],
            "error: --issue: standard input is empty; write what is wrong",
        ),
        (["--task", " "], "error: --task is empty; write the task"),
        (LOCAL, "error: llm.model: not set"),
        ([*LOCAL, "--model", "openai/m", "--sandbox", "moon"], "'moon' is not one of"),
        ([*LOCAL, "--model", "openai/m", "--deliver", "mail"], "'mail' is not one of"),
        (
            [*LOCAL, "--model", "openai/m", "--deliver", "draft"],
            "error: --deliver draft opens a pull request and needs the URL of an issue",
        ),
        (
            [*LOCAL, "--model", "openai/m", "--deliver", "ready"],
            "error: --deliver ready opens a pull request and needs the URL of an issue",
        ),
        (
            [*LOCAL, "--model", "openai/m", "--max-iterations", "0"],
            "limits.max_iterations",
        ),
        ([*LOCAL, "--model", "openai/m", "--max-cost", "-1"], "limits.max_cost_usd"),
        ([*LOCAL, "--model", "openai/m", "--colour"], "No such option: --colour"),
        (
            ["--repo", "gone", "--issue", "issue.md", "--model", "openai/m"],
            "error: --repo: gone is not a folder",
        ),
        (
            ["--repo", "/usr", "--issue", "issue.md", "--model", "openai/m"],
            "error: --repo: /usr is not a git repository",
        ),
        (
            ["--repo", "shop", "--issue", "gone.md", "--model", "openai/m"],
            "error: --issue: [Errno 2] No such file or directory: 'gone.md'",
        ),
        (
            ["--repo", "shop", "--issue", "/dev/null", "--model", "openai/m"],
            "error: --issue: /dev/null is empty; write what is wrong",
        ),
        (
            [*LOCAL, "--model", "openai/m", "--events", "issue.md"],
            "error: the events cannot be written: [Errno 17] File exists: 'issue.md'",
        ),
        (
            [URL, "--model", "openai/m"],
            "error: No token for GitHub. Set PATCHWRIGHT_GITHUB__TOKEN",
        ),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], said: str, shop: Shop) -> None:
    ended = shop.call("resolve", *arguments)
    assert said in " ".join(ended.err.split())
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err
    assert shop.sandboxes() == []


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
                "PATCHWRIGHT_GITHUB__TOKEN": "ghp_" + "k" * 36,
            },
        )
        assert github.requests == []
    assert ended.code == 2
    assert "is not an issue or pull request on" in " ".join(ended.err.split())
    assert provider.requests == []
