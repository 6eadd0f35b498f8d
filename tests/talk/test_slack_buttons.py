"""What can be pressed below a message of the bot's does what its words say."""

from pathlib import Path

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call, status
from tests.flow.office import Office, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import fix_turns
from tests.provision.waiting import wait_until

WISH = "fix the total in acme/shop"
PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
PRICES = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "100",
    "PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.10",
}


def press(office: Office, thread: str, label: str) -> None:
    slack = office.slack
    slack.fake.press(slack.jo, slack.runs(thread)[-1], label)


def fill_in(office: Office, label: str, words: str) -> None:
    """Send the form that a button has opened."""
    slack = office.slack
    wait_until(lambda: slack.fake.world.forms != [], "the form", 10)
    slack.fake.submit(slack.fake.form(slack.jo), {label: words})


def test_a_plan_is_changed_by_a_form_and_then_stopped(tmp_path: Path) -> None:
    def revise(request: Request) -> TurnLike:
        assert "mind the empty cart" in asked(request)
        return call("finish", summary="A plan.", answer="1. Mind the empty cart.")

    with in_office(tmp_path, in_turn(PLAN, revise)) as office:
        slack, story = office.slack, office.story
        thread = slack.ask(f"plan: {WISH}")
        story.work()
        press(office, thread, "Change")
        fill_in(office, "What should be different?", "mind the empty cart")
        story.work()
        [planned] = slack.runs(thread)
        assert "1. Mind the empty cart." in planned.shown
        press(office, thread, "Stop")
        story.work()
        [stopped] = slack.runs(thread)
        assert stopped.shown.startswith("*Stopped* · 2 steps")
        assert [job.state for job in story.jobs()] == [JobState.CANCELLED]
        assert len(slack.calls(thread)) == 2


def test_a_run_that_failed_is_tried_again(tmp_path: Path) -> None:
    turns = in_turn(status(401, "Incorrect API key"), *fix_turns())
    with in_office(tmp_path, turns) as office:
        slack, story = office.slack, office.story
        thread = slack.ask(WISH)
        story.work()
        [failed] = slack.runs(thread)
        assert failed.shown.startswith("*Failed* (`")
        press(office, thread, "Retry")
        story.work()
        [_, done] = slack.runs(thread)
        assert "|pull request #1>" in done.shown


def test_the_budget_of_a_run_at_work_is_raised_by_a_form(tmp_path: Path) -> None:
    def allow(_request: Request) -> TurnLike:
        press(office, thread, "Raise the budget")
        fill_in(office, "US dollars to add, as +1.1", "+1")
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(allow, *rest), settings=PRICES) as office:
        slack = office.slack
        thread = slack.ask(WISH)
        office.story.work()
        [done] = slack.runs(thread)
        assert "|pull request #1>" in done.shown
        assert " of $2.10 · " in done.shown


def test_a_link_that_is_pressed_asks_for_nothing(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack = office.slack
        thread = slack.ask(WISH)
        office.story.work()
        before = slack.answers(thread)
        press(office, thread, "Open pull request")
        office.story.work()
        assert slack.answers(thread) == before
        assert slack.fake.delivery("block_actions").status == 200
