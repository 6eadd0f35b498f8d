"""People who ask how a run is doing are answered, while it works and afterwards."""

from pathlib import Path

from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import Story, fix_turns, telling
from tests.provision.waiting import wait_until

WISH = "@patchwright please fix the sum"
PRICES = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "10",
}

QUESTIONS = {
    "status": "**Working on it** · step 1 of 50",
    "cost": "so far, for 1 step: ",
    "why": "- Allowed, because alice has write access.",
    "plan": "There is no plan yet.",
    "help": "- `@patchwright stop`: end the run and keep its work",
    "budget": "`budget` needs an amount in US dollars",
    "budget 1": "The budget is $3.00 already.",
}


def replies(story: Story, issue: int, count: int) -> list[str]:
    """Return so many replies, which are posted beside the run's own work."""
    wait_until(lambda: len(story.replies(issue)) >= count, "an answer", 10)
    return story.replies(issue)


def test_t9_questions_are_answered_while_the_run_works(tmp_path: Path) -> None:
    def ask(_request: Request) -> TurnLike:
        for number, question in enumerate(QUESTIONS, start=1):
            asked.append(story.say(1, f"@patchwright {question}"))
            # The first is where the run tells of itself.
            replies(story, 1, number + 1)
        return second

    asked: list[int] = []
    first, second, *rest = fix_turns()
    with telling(tmp_path, in_turn(first, ask, *rest), settings=PRICES) as story:
        issue = story.ask(WISH)
        story.work()
        ending, *answered = replies(story, issue, 1 + len(QUESTIONS))
        assert "**Done, proven** · #2" in ending
        for reply, answer in zip(answered, QUESTIONS.values(), strict=True):
            assert answer in reply
            assert "run=" not in reply
        for question in asked:
            assert story.reactions(issue, question) == ["eyes"]
        assert len(story.jobs()) == 1


def test_s09_a_strangers_question_is_not_answered(tmp_path: Path) -> None:
    def ask(_request: Request) -> TurnLike:
        asked.append(story.say(1, "@patchwright status", author="eve"))
        return first

    asked: list[int] = []
    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(ask, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert story.reactions(issue, asked[0]) == ["-1"]


def test_t9_a_run_that_waits_says_so_and_goes_on_waiting(tmp_path: Path) -> None:
    question = ["Cents or euros?"] * 3
    with telling(tmp_path, list(question)) as story:
        issue = story.ask(WISH)
        story.work()
        before = len(story.provider.requests)
        story.say(issue, "@patchwright status")
        story.work()
        waiting, answered = replies(story, issue, 2)
        assert "Cents or euros?" in waiting
        assert answered.startswith("**Waiting for an answer** · step 3")
        assert len(story.provider.requests) == before


def test_t9_afterwards_the_last_run_is_told_of(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        story.say(issue, "@patchwright why")
        story.work()
        _done, why = story.replies(issue)
        assert "This is how the last run ended:" in why
        assert "**Done, proven** · #2 · 4 steps" in why
        assert "It ended as `resolved`." in why
        # What is said about a run is no run.
        story.say(issue, "@patchwright status")
        story.work()
        assert "**Done, proven** · #2 · 4 steps" in story.replies(issue)[-1]


def test_t9_a_budget_in_all_counts_what_is_allowed_already(tmp_path: Path) -> None:
    def allow(_request: Request) -> TurnLike:
        story.say(1, "@patchwright budget 1.20")
        return first

    first, *rest = fix_turns()
    tight = {
        **PRICES,
        "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "100",
        "PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.10",
    }
    with telling(tmp_path, in_turn(allow, *rest), settings=tight) as story:
        issue = story.ask(WISH)
        story.work()
        done, told = replies(story, issue, 2)
        assert "of $1.20" in done
        assert told.startswith("The budget is $1.20 now.")
