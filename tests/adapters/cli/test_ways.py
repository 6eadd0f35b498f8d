"""Ways to ask, and ways to be told: in words, through pipes, quietly, in colour."""

import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version

import pytest

from tests.adapters.cli.terminal import MODEL, PATCHWRIGHT, Shop
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call
from tests.flow.story import fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

WISH = "3 pieces cost 450 for all of them."


def resolve(
    shop: Shop,
    *options: str,
    typed: str = "",
    settings: Mapping[str, str] | None = None,
) -> "tuple[subprocess.CompletedProcess[str], str]":
    """Resolve in the checkout itself; return also what the model was asked."""
    with FakeProvider(fix_turns()) as provider:
        done = subprocess.run(
            [str(PATCHWRIGHT), "resolve", "--model", MODEL, *options],
            cwd=shop.tree.path,
            env=shop.environment(provider, settings),
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        return done, str(provider.requests[0])


@pytest.mark.parametrize(
    ("options", "typed"),
    [(["--task", WISH], ""), (["-"], WISH), ([WISH], ""), (["--file", "-"], WISH)],
)
def test_a_request_in_words_is_about_the_checkout_here(
    options: list[str], typed: str, shop: Shop
) -> None:
    done, asked = resolve(shop, *options, typed=typed)
    assert done.returncode == 0, done.stderr
    assert WISH in asked
    assert shop.branches() == ["patchwright/count-every-piece"]


def test_a_plan_is_printed_and_nothing_is_changed(shop: Shop) -> None:
    turns = [call("finish", summary="A plan.", answer="1. Multiply by the pieces.")]
    with FakeProvider(turns) as provider:
        ended = shop.resolve(provider, "--plan", "--json")
        asked = str(provider.requests[0])
    assert ended.code == 0, ended.err
    assert "a plan, not yet the change" in asked
    answer = ended.answer
    assert (answer["outcome"], answer["branch"]) == ("plan-posted", None)
    assert answer["summary"] == "1. Multiply by the pieces."
    assert answer["notes"] == [
        (
            "Nothing was changed. To carry the plan out, run the same command without "
            "--plan; to change it, say in the task what should be different."
        )
    ]
    assert shop.branches() == []


def test_named_tests_are_run_by_the_controller(shop: Shop) -> None:
    named = "python3 -m unittest test_pieces"
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--test", named, "--json")
    assert ended.code == 0, ended.err
    assert named in [one["command"] for one in ended.answer["evidence"]]


def test_a_time_limit_and_a_settings_file_are_taken_from_the_command_line(
    shop: Shop,
) -> None:
    (shop.folder / "mine.toml").write_text("[limits]\nmax_iterations = 7\n")
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(
            provider,
            *("--timeout", "90s", "--config", "mine.toml", "--events", "e.jsonl"),
        )
    assert ended.code == 0, ended.err
    shown = shop.call("replay", "e.jsonl").out
    assert "limits 7 steps · $3.00 · 2,000,000 tokens · 1m 30s" in shown


def test_what_is_piped_are_plain_lines(shop: Shop) -> None:
    done, _ = resolve(shop, "--task", WISH, settings={"TERM": "xterm-256color"})
    assert "  3  edit cart.py  +1 -1" in done.stderr.splitlines()
    assert done.stdout.startswith("resolved")
    assert re.search(r"[\x1b\r⠋]", done.stdout + done.stderr) is None


def test_who_wants_it_quiet_hears_the_result_alone(shop: Shop) -> None:
    done, _ = resolve(shop, "--task", WISH, "--quiet")
    assert done.stderr == ""
    assert done.stdout.startswith("resolved")
    assert "branch:        patchwright/count-every-piece" in done.stdout


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_that_of_the_package(option: str, shop: Shop) -> None:
    ended = shop.call(option)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"patchwright {version('patchwright')}\n"


def test_a_command_that_is_misspelt_is_answered_with_the_right_one(shop: Shop) -> None:
    ended = shop.call("resolv")
    assert ended.code == 2
    assert "Did you mean 'resolve'" in " ".join(ended.err.split())


@pytest.mark.parametrize(
    "words", [["--help"], ["resolve", "-h"], ["runs", "list", "-h"], ["help", "prove"]]
)
def test_help_fits_a_narrow_terminal(words: list[str], shop: Shop) -> None:
    ended = shop.call(*words, settings={"COLUMNS": "80"})
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "…" not in ended.out
