"""No model call is made that could pass the ceiling; a stated zero is a price."""

from itertools import count
from pathlib import Path

from tests.fakes.llm.turns import Script, Turn, TurnLike, call, raw, status, with_usage
from tests.flow.story import REPO, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright please fix the sum"
ONE_DOLLAR = {"PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.00"}
LISTED_PRICE = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.000001",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.000001",
}


def _writing_at(cost: float) -> Script:
    numbers = count(1)

    def answer(_request: object) -> TurnLike:
        text = f"draft {next(numbers)}\n"
        return with_usage(call("write", path="half.txt", content=text), cost=cost)

    return answer


def test_s66_a_run_stops_before_the_call_that_would_pass_its_ceiling(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, _writing_at(0.30), settings=ONE_DOLLAR) as story:
        issue = story.ask(WISH)
        story.work()
        assert len(story.provider.requests) == 3
        assert steady(story.reply(issue)) == (
            "**Over budget** · 3 steps · Ns · $0.90 of $1.00 · 1 file, +1 -0\n\n"
            "$0.90 of $1.00 for this run is spent or set aside, and the next model "
            "call could cost up to $0.30.\n\n"
            "The work so far is on [`patchwright/1-wrong-sum`]"
            "(GITHUB/acme/shop/tree/patchwright/1-wrong-sum).\n\n"
            "It stopped at: Step 3: `write half.txt`.\n\n"
            "<details><summary>What it had done</summary>\n\n"
            "- [x] Repository checked out in a bubblewrap sandbox\n"
            "- [x] Agent finished\n\n"
            "</details>\n\n"
            "Narrow the request and ask again with `@patchwright`, or ask whoever runs "
            "this Patchwright to allow more than $1.00 for a run.\n\n"
            "<sub>run RUN · requested by alice · thread read at TIME · model "
            "openai/scripted</sub>\n\n"
            "<!-- patchwright:state=over-budget run=RUN -->"
        )


def test_s66_what_a_person_may_spend_a_day_holds_over_several_runs(
    tmp_path: Path,
) -> None:
    settings = {
        "PATCHWRIGHT_LIMITS__MAX_COST_USD": "1000",
        "PATCHWRIGHT_LIMITS__PER_USER_DAY_USD": "60",
        "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.003",
        "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0",
    }
    with telling(tmp_path, _writing_at(15.0), settings=settings) as story:
        first, second = story.ask(WISH), story.ask(WISH)
        story.work()
        calls = len(story.provider.requests)
        assert 1 <= calls <= 4
        assert f"${15 * calls}.00 of $60.00 for this person today" in story.reply(first)
        assert f"${15 * calls}.00 of $60.00 for this person today" in (
            story.reply(second)
        )
        for ended in (first, second):
            assert "Ask again tomorrow (UTC) with `@patchwright`, or ask whoever" in (
                story.reply(ended)
            )
        [_, rest] = story.jobs()
        assert rest.outcome is not None
        assert rest.outcome.iterations == 0


def test_a_day_holds_over_runs_where_only_the_provider_knows_the_price(
    tmp_path: Path,
) -> None:
    settings = {"PATCHWRIGHT_LIMITS__PER_USER_DAY_USD": "1.00"}
    with telling(tmp_path, _writing_at(0.3), settings=settings) as story:
        first, second = story.ask(WISH), story.ask(WISH)
        story.work()
        assert len(story.provider.requests) == 3
        assert "$0.90 of $1.00 for this person today" in story.reply(first)
        assert "$0.90 of $1.00 for this person today" in story.reply(second)


def test_s67_a_price_of_zero_that_is_stated_is_zero(tmp_path: Path) -> None:
    free = [with_usage(turn, cost=0.0) for turn in fix_turns()]
    with telling(tmp_path, free, settings=ONE_DOLLAR) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2 · 4 steps" in story.reply(issue)
        assert "$0.00 of $1.00" in story.reply(issue)


def test_s58_a_rate_limit_is_waited_for_and_not_paid(tmp_path: Path) -> None:
    busy = status(429, "Rate limit reached", Retry_After="7")
    priced = [with_usage(turn, cost=0.01) for turn in fix_turns()]
    turns = [priced[0], busy, busy, *priced[1:]]
    with telling(tmp_path, turns, settings=LISTED_PRICE) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert not pull.draft
        assert "$0.04 of $3.00" in story.reply(issue)


SMALL_CAP = {**LISTED_PRICE, "PATCHWRIGHT_LIMITS__MAX_COST_USD": "0.002"}


def test_h4_the_cap_holds_where_a_fallback_has_no_price(tmp_path: Path) -> None:
    settings = {
        **SMALL_CAP,
        "PATCHWRIGHT_LLM__FALLBACKS": '["spare"]',
        "PATCHWRIGHT_LLM__SPARE__MODEL": "openai/spare",
    }
    with telling(tmp_path, _writing_at(0.0055), settings=settings) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.provider.requests == []
        assert "**Over budget**" in story.reply(issue)
        assert "$0.00 of $0.002" in story.reply(issue)


def test_h4_the_cap_holds_where_no_price_is_known_at_all(tmp_path: Path) -> None:
    settings = {"PATCHWRIGHT_LIMITS__MAX_COST_USD": "0.002"}
    with telling(tmp_path, _writing_at(0.0055), settings=settings) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.provider.requests == []
        assert "**Over budget**" in story.reply(issue)


def test_h7_a_day_holds_where_nobody_knows_the_price(tmp_path: Path) -> None:
    settings = {
        "PATCHWRIGHT_LIMITS__MAX_COST_USD": "100",
        "PATCHWRIGHT_LIMITS__UNKNOWN_COST_PER_TOKEN": "0.0001",
        "PATCHWRIGHT_LIMITS__PER_DAY_USD": "8",
    }
    numbers = count()

    def answer(_request: object) -> TurnLike:
        written = call("write", path="a.txt", content=f"{next(numbers)}\n")
        return with_usage(written, prompt_tokens=10_000)

    with telling(tmp_path, answer, settings=settings) as story:
        issues = [story.ask(WISH), story.ask(WISH)]
        story.work()
        # A dollar a call, and what could be the next one's is set aside.
        assert 1 <= len(story.provider.requests) <= 7
        for issue in issues:
            assert "of $8.00 for everybody today is spent or set" in story.reply(issue)


def test_h7_no_call_is_made_that_could_pass_the_limit_of_tokens(
    tmp_path: Path,
) -> None:
    settings = {"PATCHWRIGHT_LIMITS__MAX_TOKENS": "1000"}
    huge = with_usage(call("status"), prompt_tokens=1000, completion_tokens=119_000)
    with telling(tmp_path, [huge], settings=settings) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.provider.requests == []
        assert "1,000 tokens leaves no room" in story.reply(issue)


def test_h5_tries_that_brought_nothing_are_billed(tmp_path: Path) -> None:
    settings = {**LISTED_PRICE, "PATCHWRIGHT_LIMITS__MAX_COST_USD": "0.10"}
    with telling(tmp_path, lambda _: raw(b"<html>"), settings=settings) as story:
        issue = story.ask(WISH)
        story.work()
        [job] = story.jobs()
        assert job.outcome is not None
        spent_usd = job.outcome.usage.cost_usd
        assert spent_usd is not None
        assert 0.01 < spent_usd <= 0.10
        assert len(story.provider.requests) <= 3
        assert "Traceback" not in story.reply(issue)
        assert ".py" not in story.reply(issue)


def test_one_reply_of_thought_alone_does_not_end_a_run(tmp_path: Path) -> None:
    thought = Turn(extra={"reasoning_content": "I think."})
    with telling(tmp_path, [thought, *fix_turns()], settings=LISTED_PRICE) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2 · 4 steps" in story.reply(issue)
