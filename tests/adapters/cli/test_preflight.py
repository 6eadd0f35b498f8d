"""What would end a run later is told before anything starts."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.adapters.cli.terminal import MODEL, ROOT, Ended, Shop
from tests.fakes.llm.provider import FakeProvider
from tests.flow.story import fix_turns
from tests.provision.servers import free_port

WRONG_USAGE, FAILED = 2, 3
NO_KEY = {"LLM_API_KEY": ""}
PLACEHOLDER = (
    "error: llm.api_key: still a placeholder, found in environment variable "
    "LLM_API_KEY; replace it with your own value, or remove it; api_key means: API key "
    "of the provider.\n"
)
# What carries a run out takes twice as long to load as what checks it.
BEHIND = (
    *("patchwright.core.agent", "patchwright.resolver.prove", "patchwright.sandbox"),
    *("docker", "github", "litellm", "requests", "sqlalchemy"),
)


def resolve(shop: Shop, settings: Mapping[str, str], *options: str) -> Ended:
    return shop.call(
        *("resolve", "-C", "shop", "--file", str(shop.issue)),
        *options,
        settings=settings,
    )


def nothing_started(shop: Shop) -> bool:
    return shop.sandboxes() == [] and not (shop.folder / "state").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            NO_KEY | {"LLM_MODEL": "anthropic/claude-sonnet-4-5"},
            "No API key for anthropic. Set ANTHROPIC_API_KEY or LLM_API_KEY.",
        ),
        (
            {"LLM_MODEL": "antropic/claude"},
            (
                "Unknown provider `antropic`; did you mean `anthropic`? Set "
                "LLM_MODEL to anthropic/claude."
            ),
        ),
        (
            {"LLM_MODEL": "somebody/claude"},
            (
                "Unknown provider `somebody`. Set LLM_MODEL to PROVIDER/MODEL, such as "
                "anthropic/claude-sonnet-4-5."
            ),
        ),
        (
            {"LLM_MODEL": "claude"},
            (
                "`claude` does not name a provider. Set LLM_MODEL to PROVIDER/MODEL, "
                "such as anthropic/claude-sonnet-4-5."
            ),
        ),
        (
            {"LLM_MODEL": "qwen", "LLM_BASE_URL": "http://127.0.0.1:1/v1"},
            (
                "`qwen` does not name a provider. Set LLM_MODEL to openai/qwen, if the "
                "server speaks the API of OpenAI."
            ),
        ),
        (
            {},
            (
                "llm.model: not set; no run can start without it: set LLM_MODEL, for "
                "example to anthropic/claude-sonnet-4-5, and LLM_API_KEY"
            ),
        ),
    ],
)
def test_a_model_that_cannot_work_is_wrong_usage(
    settings: Mapping[str, str], said: str, shop: Shop
) -> None:
    ended = resolve(shop, settings)
    assert (ended.code, ended.out) == (WRONG_USAGE, "")
    assert ended.err == f"error: {said}\n"
    assert nothing_started(shop)


def test_nobody_waits_for_what_carries_a_run_out() -> None:
    check = (
        "import sys, patchwright.workers.cli.resolve_handler\n"
        f"sys.exit(', '.join(sys.modules.keys() & {set(BEHIND)}))"
    )
    argv = [sys.executable, "-c", check]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_placeholder_for_a_key_is_wrong_usage(shop: Shop) -> None:
    ended = resolve(shop, {"LLM_MODEL": MODEL, "LLM_API_KEY": "sk-ant-…"})
    assert (ended.code, ended.err) == (WRONG_USAGE, PLACEHOLDER)
    assert nothing_started(shop)


@pytest.mark.parametrize("amount", ["0", "-1", "nan"])
def test_an_impossible_limit_is_wrong_usage(amount: str, shop: Shop) -> None:
    ended = resolve(shop, {"LLM_MODEL": MODEL}, "--max-cost", amount)
    reason = "a finite number" if amount == "nan" else "greater than 0"
    assert (ended.code, ended.err) == (
        WRONG_USAGE,
        (
            f"error: limits.max_cost_usd: Input should be {reason}, found in the "
            "command line; max_cost_usd means: Highest cost of one run, in USD.\n"
        ),
    )
    assert nothing_started(shop)


def test_a_server_that_refuses_the_connection_is_told_at_once(shop: Shop) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/v1"
    ended = resolve(shop, {"LLM_MODEL": MODEL, "LLM_BASE_URL": url}, "--json")
    said = (
        f"Cannot reach the model at 127.0.0.1:{port} (connection refused). Start the "
        "server, or correct LLM_BASE_URL."
    )
    assert (ended.code, ended.err) == (FAILED, f"error: {said}\n")
    assert (ended.answer["outcome"], ended.answer["summary"]) == ("failed", said)
    assert nothing_started(shop)


def test_a_local_server_needs_no_key(shop: Shop) -> None:
    with FakeProvider(fix_turns(), api_key="no-key") as provider:
        ended = shop.call(
            *("resolve", *shop.local()), provider=provider, settings=NO_KEY
        )
    assert ended.code == 0, ended.err


def test_a_model_that_no_table_has_is_a_warning_and_works(shop: Shop) -> None:
    ended = resolve(
        shop,
        {
            "LLM_MODEL": "anthropic/claude-sonet-4-5",
            "PATCHWRIGHT_SANDBOX__KIND": "no-such-kind",
        },
    )
    warned, error, *_ = ended.err.splitlines()
    assert warned == (
        "warning: The model anthropic/claude-sonet-4-5 is not in the price table; did "
        "you mean anthropic/claude-sonnet-4-5? Set LLM_MODEL to "
        "anthropic/claude-sonnet-4-5, if it is misspelled."
    )
    # It went on to what comes next.
    assert "no-such-kind" in error
