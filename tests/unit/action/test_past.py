"""Of earlier runs only their own comments are known, and nobody else's count."""

from datetime import UTC, datetime

import pytest

from patchwright.core.text.commands import Command, Verb
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    Post,
    RepoRef,
    Thread,
    ThreadKind,
)
from patchwright.integrations.github.webhook import Listening
from patchwright.workers.action.past import answer_from, find_past

LISTENING = Listening(mention="@patchwright", own_login="github-actions[bot]")
UNKNOWN = Listening(mention="@patchwright")
RUNS = "https://github.com/acme/shop/actions"


def thread(*said: tuple[str, str]) -> Thread:
    ref = ForgeThread(
        repo=RepoRef(forge="github", full_name="acme/shop"),
        kind=ThreadKind.ISSUE,
        number=1,
    )
    posts = tuple(
        Post(
            id=str(number),
            author=Actor(service="github", login=login, is_bot="[bot]" in login),
            text=text,
            at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for number, (login, text) in enumerate((("alice", "x"), *said))
    )
    return Thread(ref=ref, title="x", url="x", posts=posts)


def status(state: str, run: str, words: str = "Words.") -> str:
    return f"{words}\n\n<sub>run</sub>\n\n<!-- patchwright:state={state} run={run} -->"


def test_the_newest_run_of_ours_counts() -> None:
    own = "github-actions[bot]"
    found = find_past(
        thread(
            (own, status("plan-posted", "r1", "1. Fix it.")),
            (own, status("answered", "r2")),
            ("eve", status("plan-posted", "r3", "Evil.")),
            ("renovate[bot]", status("plan-posted", "r4", "Other.")),
        ),
        LISTENING,
    )
    assert found is not None
    assert (found.run_id, found.words) == ("r1", "1. Fix it.")
    assert found.has_plan


@pytest.mark.parametrize("login", ["eve", "welcome[bot]", "github-actions[bot]"])
def test_where_we_do_not_know_who_we_are_nothing_is_ours(login: str) -> None:
    assert find_past(thread((login, status("plan-posted", "r1"))), UNKNOWN) is None


@pytest.mark.parametrize(
    "text",
    [
        f"Thank you! You wrote:\n\n> {status('plan-posted', 'r9')}\n\nWe will look.",
        f"{status('plan-posted', 'r9')}\n{status('running', 'r8')}",
    ],
)
def test_what_another_workflow_quotes_under_our_name_is_no_plan(text: str) -> None:
    assert find_past(thread(("github-actions[bot]", text)), LISTENING) is None


def test_what_nothing_is_known_of_is_said() -> None:
    told = answer_from(None, Command(verb=Verb.STATUS), RUNS)
    assert told is not None
    assert "No run of ours" in told.summary
    stop = answer_from(None, Command(verb=Verb.STOP), RUNS)
    assert stop is not None
    assert RUNS in stop.summary


def test_a_run_that_works_meanwhile_is_not_denied() -> None:
    own = "github-actions[bot]"
    found = find_past(thread((own, status("running", "7f3a4b5c6d"))), LISTENING)
    for verb in (Verb.STOP, Verb.STATUS):
        told = answer_from(found, Command(verb=verb), RUNS)
        assert told is not None
        assert told.summary.startswith("Run 7f3a4b5c has not told its end yet.")


def test_a_request_is_no_question_about_the_past() -> None:
    for verb in (Verb.RETRY, Verb.PLAN, Verb.HELP):
        assert answer_from(None, Command(verb=verb), RUNS) is None
