"""The home tab and the forms are what Slack takes, and say what they should."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.channel import Offer
from patchwright.core.plugin_host import PersonSummary, ShownRun
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.triggers import FormRequest
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.text.actions import FORM, decode_form, offer_blocks
from patchwright.integrations.slack.views import (
    MAX_RUNS,
    form_view,
    home_view,
    options_of,
)
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.acts.pressing import option_problems
from tests.fakes.slack.blocks import check_blocks
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.render.interactions import new_trigger

RUN = ShownRun(
    state="done",
    title="Fix *it* <!channel>",
    url="https://bot.example/r1",
    cost="$0.41",
)


def wanted(fake: FakeSlack, office: Office, **changes: Any) -> FormRequest:
    form = FormRequest(
        actor=office.actor(office.ann),
        handle=new_trigger(fake.world, office.ann),
        thread=office.thread("1.1"),
        command="budget",
        asks="How much more, in dollars?",
        installation=office.team,
    )
    return form.replace(**changes)


def test_the_page_lists_runs_and_says_who_one_is(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    facts = PersonSummary(runs=(RUN,), repository="acme/shop", linked_as="ann-gh")
    slack.publish_home(office.actor(office.ann), office.team, facts)
    home = fake.home(office.ann)
    assert "ann-gh" in home.shown
    assert "$0.41" in home.shown
    assert "<!channel>" not in home.shown
    assert "<https://bot.example/r1|" in home.shown
    assert "acme/shop" in json.dumps(home.view)
    assert fake.buttons(home) == ["New request"]


def test_who_is_not_linked_is_shown_the_way(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    slack.publish_home(office.actor(office.ann), office.team, PersonSummary())
    assert "you get a link" in fake.home(office.ann).shown


def test_a_form_asks_for_words_and_knows_what_for(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    slack.open_form(wanted(fake, office))
    form = fake.form(office.ann)
    assert form.view["callback_id"] == FORM
    target = decode_form(form.view["private_metadata"])
    assert (target.thread, target.command) == (office.thread("1.1"), "budget")
    fake.submit(form, {"How much more, in dollars?": "2"})
    assert fake.delivery("view_submission").body


def test_a_new_request_may_name_its_repository(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    slack.open_form(wanted(fake, office, thread=None, command="", asks=""))
    form = fake.form(office.ann)
    labels = [block["label"]["text"] for block in form.blocks]
    assert labels == ["What should be done?", "Repository"]
    assert decode_form(form.view["private_metadata"]).thread is None


def test_a_form_after_three_seconds_is_an_error(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    form = wanted(fake, office)
    fake.faults.expire_triggers()
    with pytest.raises(InvalidRequestError, match="expired_trigger_id"):
        slack.open_form(form)


def test_a_form_opens_once(fake: FakeSlack, office: Office, slack: Slack) -> None:
    form = wanted(fake, office)
    slack.open_form(form)
    with pytest.raises(InvalidRequestError, match="invalid_trigger_id"):
        slack.open_form(form)


def test_offers_can_be_pressed_and_picked(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    offers = (
        Offer(words="Approve", command="approve"),
        Offer(words="Change", command="change", asks="What should change?"),
        Offer(words="Open", url="https://bot.example/r1"),
        Offer(words="Choose a repository", picks_repository=True),
    )
    ts = slack.channel.post(office.thread(root), "Which one?", offers)
    message = fake.message(office.channel, ts)
    assert fake.buttons(message) == ["Approve", "Change", "Open"]
    fake.press(office.ann, message, "Approve")
    fake.pick(office.ann, message, "acme/shop")
    assert [one.name for one in fake.deliveries[-3:]] == [
        "block_actions",
        "block_suggestion",
        "block_actions",
    ]


def test_somebody_busy_sees_their_latest_runs() -> None:
    view = home_view(PersonSummary(runs=(RUN,) * 200))
    blocks = check_blocks(view["blocks"], is_view=True)
    assert str(blocks).count("bot.example/r1") == MAX_RUNS


words = st.text(min_size=1, max_size=400)


@given(st.lists(st.tuples(words, st.booleans()), max_size=25))
def test_any_offers_are_blocks_that_slack_takes(
    offered: list[tuple[str, bool]],
) -> None:
    office = Office(team="T1", token="", channel="C1", ann="U1", bob="U2")
    offers = tuple(
        Offer(words=text, command="change", picks_repository=picks)
        for text, picks in offered
    )
    check_blocks(list(offer_blocks(office.thread("1.1"), offers)))


@given(state=words, title=st.text(max_size=400), name=st.text(max_size=80))
def test_any_home_tab_is_one_that_slack_takes(
    state: str, title: str, name: str
) -> None:
    run = RUN.replace(state=state, title=title)
    view = home_view(PersonSummary(runs=(run,), repository="a/b", linked_as=name))
    check_blocks(view["blocks"], is_view=True)


@given(asks=st.text(max_size=400), command=st.sampled_from(["budget", "change", ""]))
def test_any_form_is_one_that_slack_takes(asks: str, command: str) -> None:
    office = Office(team="T1", token="", channel="C1", ann="U1", bob="U2")
    form = FormRequest(
        actor=office.actor("U1"), handle="1", thread=None, command=command, asks=asks
    )
    check_blocks(form_view(form)["blocks"], is_view=True)


@given(st.lists(st.text(min_size=1, max_size=200), max_size=150))
def test_any_repositories_are_options_that_slack_takes(names: list[str]) -> None:
    options = options_of(names)["options"]
    assert isinstance(options, list)
    assert option_problems(options) == []
