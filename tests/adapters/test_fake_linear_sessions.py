"""Sessions of agents in the fake Linear: what begins one, and what it takes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.linear.client import Program, Reply, of_app, of_person
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.scene import SCOPES


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def linear(clock: FakeClock) -> Iterator[FakeLinear]:
    with FakeLinear(clock=clock) as fake:
        fake.add_team("ENG", "Engineering")
        fake.add_webhook("hush")
        yield fake


@pytest.fixture
def ann(linear: FakeLinear) -> str:
    return linear.add_user("ann", "Ann Lee", admin=True)


@pytest.fixture
def key(linear: FakeLinear, ann: str) -> str:
    """Return an issue with a session that ann began by a mention."""
    made = linear.create("ENG", ann, "Wrong sum", "Off by one.")
    linear.comment(made, ann, f"{linear.mention(linear.bot)} please fix it")
    return made


def act(linear: FakeLinear, key: str, content: dict[str, Any], **more: Any) -> Reply:
    asked = {"agentSessionId": linear.session(key).id, "content": content, **more}
    return of_app(linear).change("agentActivityCreate", asked)


def say(linear: FakeLinear, key: str, kind: str, body: str, **more: Any) -> Reply:
    return act(linear, key, {"type": kind, "body": body}, **more)


def plan(linear: FakeLinear, key: str, **asked: Any) -> Reply:
    document = """mutation($id: String!, $input: AgentSessionUpdateInput!) {
      agentSessionUpdate(id: $id, input: $input) { success } }"""
    return of_app(linear).ask(document, id=linear.session(key).id, input=asked)


def told(linear: FakeLinear, action: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(linear.delivery("AgentSessionEvent", action).body)
    return body


CONTEXT = """\
<issue identifier="ENG-1">
<title>Wrong sum</title>
<description>Off by one.</description>
<team name="Engineering"/>
</issue>

<primary-directive-thread comment-id="FIRST">
<comment author="Ann Lee" created-at="2030-01-01 12:00:00">Seen on 2.3.1 too.</comment>
<comment author="Ann Lee" created-at="2030-01-01 12:00:00">@patchwright fix it</comment>
</primary-directive-thread>

<other-thread comment-id="OTHER">
<comment author="Ann Lee" created-at="2030-01-01 12:00:00">A &lt;b&gt; test.</comment>
</other-thread>

<guidance><guidance-rule origin="team">Each fix needs a test.</guidance-rule></guidance>
"""


def test_a_mention_begins_a_session_with_all_around_it(
    linear: FakeLinear, ann: str
) -> None:
    linear.guide("Each fix needs a test.", "ENG")
    key = linear.create("ENG", ann, "Wrong sum", "Off by one.")
    first = linear.comment(key, ann, "Seen on 2.3.1 too.")
    other = linear.comment(key, ann, "A <b> test.")
    mention = linear.comment(key, ann, "@patchwright fix it", parent=first)
    body = told(linear, "created")
    assert body["agentSession"]["status"] == "pending"
    assert body["agentSession"]["commentId"] == mention
    assert [one["id"] for one in body["previousComments"]] == [first]
    assert [one["body"] for one in body["guidance"]] == ["Each fix needs a test."]
    context = body["promptContext"].replace(first, "FIRST").replace(other, "OTHER")
    assert context == CONTEXT


@pytest.mark.parametrize(
    "text", ["`@patchwright` is a bot", "ann@patchwright.dev", "@patchwrights hello"]
)
def test_a_name_that_calls_nobody_begins_nothing(
    linear: FakeLinear, ann: str, text: str
) -> None:
    key = linear.create("ENG", ann, "Wrong sum", text)
    linear.comment(key, ann, text)
    assert linear.sessions(key) == []


def test_an_app_that_may_not_be_called_is_not(linear: FakeLinear, ann: str) -> None:
    linear.token.scopes = SCOPES - {"app:mentionable"}
    key = linear.create("ENG", ann, "Wrong sum", "@patchwright fix it")
    assert linear.sessions(key) == []


def test_a_delegated_issue_has_a_thread_for_its_session(
    linear: FakeLinear, ann: str
) -> None:
    key = linear.create("ENG", ann, "Wrong sum")
    linear.assign(key, ann, linear.bot)
    assert linear.issue(key).delegate == linear.bot
    [root] = linear.comments(key)
    assert root.body == "This thread is for an agent session with patchwright."
    assert linear.session(key).comment == root.id
    assert told(linear, "created")["agentSession"]["comment"] is None
    events = [(one.event, one.action) for one in linear.deliveries]
    assert events == [
        ("Issue", "create"),
        ("Issue", "update"),
        ("AppUserNotification", "issueAssignedToYou"),
        ("AgentSessionEvent", "created"),
    ]
    linear.delegate(key, ann, None)
    assert linear.deliveries[-1].action == "issueUnassignedFromYou"


def test_a_description_that_newly_calls_the_agent_begins_one_session(
    linear: FakeLinear, ann: str
) -> None:
    key = linear.create("ENG", ann, "Wrong sum", "Off by one.")
    linear.edit(key, ann, description="@patchwright it is off by one.")
    linear.edit(key, ann, description="@patchwright it is off by two.")
    assert len(linear.sessions(key)) == 1


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("thought", "active"),
        ("elicitation", "awaitingInput"),
        ("response", "complete"),
        ("error", "error"),
    ],
)
def test_the_newest_activity_says_how_it_stands(
    linear: FakeLinear, key: str, kind: str, status: str
) -> None:
    assert not say(linear, key, kind, "Hello.").errors
    assert linear.session(key).status == status
    said = [one.body for one in linear.comments(key) if one.user == linear.bot]
    assert said == ([] if kind == "thought" else ["Hello."])


def test_an_ephemeral_activity_is_replaced_by_the_next(
    linear: FakeLinear, key: str, ann: str
) -> None:
    say(linear, key, "thought", "Reading.", ephemeral=True)
    act(linear, key, {"type": "action", "action": "Ran", "parameter": "make test"})
    say(linear, key, "thought", "Writing.", ephemeral=True)
    shown = [one.content["type"] for one in linear.activities(key)]
    assert shown == ["action", "thought"]
    linear.prompt(key, ann, "Hurry.")
    shown = [one.content["type"] for one in linear.activities(key)]
    assert shown == ["action", "prompt"]


REFUSED = [
    ({"type": "thought"}, {}, "content: thought needs the text body"),
    ({"type": "response", "body": " "}, {}, "content: response needs the text body"),
    (
        {"type": "thought", "body": "x", "title": "y"},
        {},
        "content: thought has no title",
    ),
    (
        {"type": "action", "action": "Ran"},
        {},
        "content: action needs the text parameter",
    ),
    (
        {"type": "prompt", "body": "x"},
        {},
        (
            "content: its type must be one of thought, action, elicitation, response, "
            "error"
        ),
    ),
    (
        {"type": "response", "body": "x"},
        {"ephemeral": True},
        "ephemeral: only a thought or an action can be ephemeral",
    ),
    (
        {"type": "response", "body": "x"},
        {"signal": "select", "signalMetadata": {"options": [{"value": "a"}]}},
        "signal: response cannot have the signal select",
    ),
    (
        {"type": "elicitation", "body": "x"},
        {"signal": "stop"},
        "signal: elicitation cannot have the signal stop",
    ),
    (
        {"type": "elicitation", "body": "x"},
        {"signal": "select", "signalMetadata": {"options": []}},
        "signalMetadata: select needs options, each with a value",
    ),
    (
        {"type": "elicitation", "body": "x"},
        {"signal": "auth"},
        "signalMetadata: auth needs a url",
    ),
]


@pytest.mark.parametrize(("content", "more", "words"), REFUSED)
def test_activities_of_a_wrong_shape_are_refused(
    linear: FakeLinear,
    key: str,
    content: dict[str, Any],
    more: dict[str, Any],
    words: str,
) -> None:
    assert act(linear, key, content, **more).words == words
    assert linear.activities(key) == []
    assert linear.session(key).status == "pending"


def test_only_the_agent_itself_acts_in_its_session(
    linear: FakeLinear, key: str, ann: str
) -> None:
    asked = {
        "agentSessionId": linear.session(key).id,
        "content": {"type": "thought", "body": "Hm."},
    }
    by_person = of_person(linear, ann).change("agentActivityCreate", asked)
    assert by_person.words == "Only an app with actor=app can be an agent"
    other = linear.scene.add_app(linear.workspace, "Other", ["http://127.0.0.1/"])
    token = linear.scene.install(other, linear.workspace)
    by_other = Program(linear.api_url, f"Bearer {token.access}").change(
        "agentActivityCreate", asked
    )
    assert by_other.words == "Only the agent of a session can add activities to it"


def test_an_answer_reaches_the_agent(linear: FakeLinear, key: str, ann: str) -> None:
    options = [{"label": "Cents", "value": "cents"}, {"value": "euros"}]
    facts = {"options": options}
    say(linear, key, "elicitation", "Which?", signal="select", signalMetadata=facts)
    linear.choose(key, ann, "euros")
    body = told(linear, "prompted")
    assert body["agentActivity"]["content"] == {"type": "prompt", "body": "euros"}
    assert body["agentActivity"]["userId"] == ann
    assert body["agentSession"]["status"] == "active"
    with pytest.raises(ValueError, match="dollars is none of the options"):
        linear.choose(key, ann, "dollars")


def test_words_in_its_thread_reach_the_agent_and_others_do_not(
    linear: FakeLinear, key: str, ann: str
) -> None:
    [mention] = linear.comments(key)
    linear.comment(key, ann, "In cents, please.", parent=mention.id)
    assert told(linear, "prompted")["agentActivity"]["content"]["body"] == (
        "In cents, please."
    )
    linear.comment(key, ann, "Unrelated.")
    prompts = [one for one in linear.deliveries if one.action == "prompted"]
    assert (len(prompts), len(linear.sessions(key))) == (1, 1)


def test_stop_comes_as_a_signal(linear: FakeLinear, key: str, ann: str) -> None:
    linear.stop(key, ann)
    activity = told(linear, "prompted")["agentActivity"]
    assert (activity["signal"], activity["content"]["body"]) == ("stop", "Stop")


def test_a_plan_is_a_whole_list_of_steps(linear: FakeLinear, key: str) -> None:
    steps = [
        {"content": "Read", "status": "completed"},
        {"content": "Write", "status": "inProgress"},
    ]
    assert not plan(linear, key, plan=steps).errors
    assert linear.session(key).plan == steps
    for wrong in ({"steps": steps}, [{"content": "Read"}], [{**steps[0], "id": "1"}]):
        assert plan(linear, key, plan=wrong).code == "INVALID_INPUT"
    done = [{"content": "Read", "status": "done"}]
    assert plan(linear, key, plan=done).words == (
        "plan: each step has content, and a status of pending, inProgress, "
        "completed, canceled"
    )
    assert linear.session(key).plan == steps


def test_addresses_are_added_replaced_and_removed(linear: FakeLinear, key: str) -> None:
    run = {"label": "Run", "url": "https://bot.example/runs/1"}
    pull = {"label": "Pull request", "url": "https://github.com/acme/shop/pull/1"}
    plan(linear, key, externalUrls=[run])
    plan(linear, key, addedExternalUrls=[pull, run])
    assert linear.session(key).external_urls == [run, pull]
    plan(linear, key, removedExternalUrls=[run["url"]])
    assert linear.session(key).external_urls == [pull]
    twice = plan(linear, key, externalUrls=[run, run])
    assert twice.words == "externalUrls: each url can be there once"


def test_an_agent_has_ten_seconds_for_its_first_sign(
    linear: FakeLinear, key: str, ann: str, clock: FakeClock
) -> None:
    clock.advance(10)
    say(linear, key, "thought", "Reading.")
    assert not linear.session(key).unresponsive
    linear.comment(key, ann, f"And {linear.mention(linear.bot)} the tax, please")
    clock.advance(11)
    assert linear.session(key).unresponsive
    say(linear, key, "thought", "Reading.")
    # That it came too late stays to be seen.
    assert linear.session(key).unresponsive


def test_an_address_to_look_at_is_a_sign_too(
    linear: FakeLinear, key: str, clock: FakeClock
) -> None:
    plan(linear, key, externalUrls=[{"label": "Run", "url": "https://bot.example/1"}])
    clock.advance(60)
    assert not linear.session(key).unresponsive


def test_a_silent_session_goes_stale_until_the_agent_speaks(
    linear: FakeLinear, key: str, clock: FakeClock
) -> None:
    say(linear, key, "thought", "Reading.")
    clock.advance(31 * 60)
    assert linear.session(key).status == "stale"
    say(linear, key, "thought", "Still reading.")
    assert linear.session(key).status == "active"


def test_an_app_begins_a_session_itself_and_is_not_told(
    linear: FakeLinear, ann: str
) -> None:
    key = linear.create("ENG", ann, "Wrong sum")
    run = {"label": "Run", "url": "https://bot.example/runs/1"}
    asked = {"issueId": key, "externalUrls": [run]}
    document = """mutation($input: AgentSessionCreateOnIssue!) {
      agentSessionCreateOnIssue(input: $input) { agentSession { id status } } }"""
    reply = of_app(linear).ask(document, input=asked)
    shown = reply.data["agentSessionCreateOnIssue"]["agentSession"]
    assert shown == {"id": linear.session(key).id, "status": "pending"}
    assert linear.session(key).external_urls == [run]
    assert all(one.event != "AgentSessionEvent" for one in linear.deliveries)
