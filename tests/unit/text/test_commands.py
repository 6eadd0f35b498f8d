"""Commands are told from requests."""

import pytest

from patchwright.core.commands import (
    NO_AMOUNT,
    BotCommand,
    Verb,
    is_greeting,
    parse_command,
)


@pytest.mark.parametrize("verb", [v for v in Verb if v is not Verb.BUDGET])
def test_t9_a_verb_alone_is_a_command(verb: Verb) -> None:
    assert parse_command(verb) == BotCommand(verb=verb)
    assert parse_command(f" {verb.upper()}, please!") == BotCommand(verb=verb)


@pytest.mark.parametrize(
    ("request_text", "verb", "argument"),
    [
        ("stop it now", Verb.STOP, ""),
        ("stop, this is wrong", Verb.STOP, "this is wrong"),
        ("reject: too risky", Verb.REJECT, "too risky"),
        ("confirm", Verb.APPROVE, ""),
        ("Confirm it, please", Verb.APPROVE, ""),
        ("plan the move to asyncio", Verb.PLAN, "the move to asyncio"),
        ("plan:\n- a\n- b", Verb.PLAN, "a\n- b"),
        ("retry with Python 3.12", Verb.RETRY, "with Python 3.12"),
        ("budget +5", Verb.BUDGET, "+5"),
        ("budget + $5", Verb.BUDGET, "+5"),
        ("budget 5 dollars", Verb.BUDGET, "5"),
        ("budget $2.50", Verb.BUDGET, "2.50"),
    ],
)
def test_t9_some_commands_say_more(
    request_text: str, verb: Verb, argument: str
) -> None:
    assert parse_command(request_text) == BotCommand(verb=verb, argument=argument)


@pytest.mark.parametrize(
    "request_text",
    [
        "budget",
        "budget please",
        "budget 0",
        "budget -3",
        "budget 2,50",
        "budget 5 euros",
        "budget +1e9",
    ],
)
def test_t9_a_budget_without_a_usable_amount_says_how_to_write_one(
    request_text: str,
) -> None:
    command = parse_command(request_text)
    assert command is not None
    assert (command.verb, command.fault) == (Verb.BUDGET, NO_AMOUNT)


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "fix the parser",
        "help me with the parser",
        "stop the server from crashing",
        "why does this fail?",
        "status-code 404 is wrong",
        "reject empty names",
        "budget report is wrong",
        "budget for 2026 is missing a line",
        "stopwatch is off",
        "cost overruns in the report",
    ],
)
def test_t9_anything_else_is_a_request(request_text: str) -> None:
    assert parse_command(request_text) is None


@pytest.mark.parametrize(
    "text", ["hi", "Hello there!", "thanks for the fix", "Thank you very much.", "ping"]
)
def test_greetings_and_thanks_say_no_more(text: str) -> None:
    assert is_greeting(text)
    assert parse_command(text) is None


@pytest.mark.parametrize(
    "text", ["", "please", "go", "hi, the sum is wrong", "thanks, now stop", "done"]
)
def test_other_words_are_no_greeting(text: str) -> None:
    assert not is_greeting(text)


def test_a_request_that_begins_with_confirm_stays_a_request() -> None:
    assert parse_command("confirm that the total counts every piece") is None
