"""What we say in a session: activities, a plan, links, and questions."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.types.errors import InvalidRequestError
from tests.adapters.linear.conftest import Scene

RUN = "<!-- patchwright:state={} run=7f3a -->"
PROGRESS = f"""\
**Working on it** · step 4 of 50 · $0.41 of $3.00 · [live log](https://bot.test/run/7f3a)

- [x] Repository checked out
- The agent's plan:
  - [x] Read the code
  - [ ] **→** Fix the sum
  - [ ] Add a test
- [ ] ❌ The proof fell short

<sub>run 7f3a · requested by Ann Lee</sub>

{RUN.format("running")}"""


def said(scene: Scene) -> list[tuple[str, str]]:
    """Return the kinds and texts of what the session shows of us."""
    return [
        (one.content["type"], one.content.get("body", ""))
        for one in scene.fake.activities(scene.key)
        if one.user == scene.fake.bot
    ]


def test_the_first_activity_comes_with_the_acknowledgement(scene: Scene) -> None:
    scene.begin_session()
    for _ in range(2):
        scene.channel.acknowledge(scene.asked())
    [seen] = scene.fake.activities(scene.key)
    assert (seen.content, seen.ephemeral) == (
        {"type": "thought", "body": "Reading the issue."},
        True,
    )
    assert not scene.fake.session(scene.key).unresponsive


def test_progress_is_a_thought_with_a_plan_and_a_link(scene: Scene) -> None:
    scene.begin_session()
    post = scene.channel.post(scene.ref, PROGRESS)
    assert said(scene) == [
        (
            "thought",
            (
                "**Working on it** · step 4 of 50 · $0.41 of $3.00 · "
                "[live log](https://bot.test/run/7f3a)\n\n"
                "run 7f3a · requested by Ann Lee"
            ),
        )
    ]
    session = scene.fake.session(scene.key)
    assert session.plan == [
        {"content": "Repository checked out", "status": "completed"},
        {"content": "Read the code", "status": "completed"},
        {"content": "Fix the sum", "status": "inProgress"},
        {"content": "Add a test", "status": "pending"},
        {"content": "The proof fell short", "status": "canceled"},
    ]
    assert session.external_urls == [
        {"label": "Run 7f3a", "url": "https://bot.test/run/7f3a"}
    ]
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post


def test_only_news_are_said_again(scene: Scene) -> None:
    scene.begin_session()
    post = scene.channel.post(scene.ref, PROGRESS)
    before = len(scene.fake.requests)
    for step in (5, 6):
        scene.channel.edit(scene.ref, post, PROGRESS.replace("step 4", f"step {step}"))
    assert len(scene.fake.requests) == before
    news = PROGRESS.replace("**Working on it**", "**Still at it**")
    scene.channel.edit(scene.ref, post, news)
    assert [body.partition(" ·")[0] for _, body in said(scene)] == ["**Still at it**"]


def test_a_long_wait_is_not_silent(scene: Scene) -> None:
    scene.begin_session()
    post = scene.channel.post(scene.ref, PROGRESS)
    before = len(scene.fake.requests)
    scene.clock.advance(301)
    scene.channel.edit(scene.ref, post, PROGRESS.replace("step 4", "step 9"))
    assert len(scene.fake.requests) > before
    assert "step 9" in said(scene)[-1][1]


def test_a_question_is_an_elicitation_with_options(scene: Scene) -> None:
    scene.begin_session()
    offers = (
        Offer(words="1", command="1"),
        Offer(words="Change the plan", command="plan", asks="what to change"),
        Offer(words="Stop", command="stop"),
        Offer(words="Find a repository", picks_repository=True),
    )
    scene.channel.post(
        scene.ref, f"Cents, or euros?\n\n{RUN.format('waiting')}", offers
    )
    assert said(scene) == [("elicitation", "Cents, or euros?")]
    [asked] = scene.fake.activities(scene.key)
    assert asked.signal_metadata == {"options": [{"label": "1", "value": "1"}]}
    assert scene.fake.session(scene.key).status == "awaitingInput"


@pytest.mark.parametrize(
    ("state", "kind", "status"),
    [
        ("resolved", "response", "complete"),
        ("answered", "response", "complete"),
        ("stopped", "response", "complete"),
        ("failed", "error", "error"),
        ("over-budget", "error", "error"),
    ],
)
def test_an_end_is_a_response_or_an_error(
    scene: Scene, state: str, kind: str, status: str
) -> None:
    scene.begin_session()
    post = scene.channel.post(scene.ref, PROGRESS)
    for _ in range(2):
        scene.channel.edit(scene.ref, post, f"**The end**\n\n{RUN.format(state)}")
    assert said(scene)[-1] == (kind, "**The end**")
    assert scene.fake.session(scene.key).status == status
    assert [one[0] for one in said(scene)].count(kind) == 1


def test_a_result_needs_no_call_beside_it(scene: Scene) -> None:
    scene.begin_session()
    mark = "<!-- patchwright:ping run=7f3a resolved@4 -->"
    ping = f"[@Ann](patchwright-call:1) Done\n\n{mark}"
    assert scene.channel.post(scene.ref, ping) == ""
    assert said(scene) == []


def test_what_was_said_is_not_said_twice(scene: Scene) -> None:
    scene.begin_session()
    first = scene.channel.post(scene.ref, PROGRESS)
    assert scene.channel.post(scene.ref, PROGRESS) == first
    assert len(said(scene)) == 1


def test_a_link_is_for_one_person_and_in_no_text(scene: Scene) -> None:
    scene.begin_session()
    link = "https://bot.test/link/secret"
    text = f"[Link your GitHub account]({link}) to your account in Linear."
    offers = (Offer(words="Link with GitHub", url=link),)
    scene.channel.tell_privately(scene.ref, scene.actor, text, offers)
    [asked] = scene.fake.activities(scene.key)
    assert asked.content == {
        "type": "elicitation",
        "body": "Link your GitHub account to your account in Linear.",
    }
    assert (asked.signal, asked.signal_metadata) == (
        "auth",
        {"url": link, "userId": scene.ann},
    )
    assert link not in "".join(one.body for one in scene.fake.comments(scene.key))


def test_nothing_else_can_be_said_to_one_person(scene: Scene) -> None:
    with pytest.raises(InvalidRequestError, match="no private comments"):
        scene.channel.tell_privately(scene.ref, scene.actor, "Psst.")
    scene.begin_session()
    with pytest.raises(InvalidRequestError, match="nothing but a link"):
        scene.channel.tell_privately(scene.ref, scene.actor, "Psst.")


def test_the_newest_session_is_spoken_in(scene: Scene) -> None:
    call = f"{scene.fake.mention(scene.fake.bot)} go"
    for _ in range(2):
        scene.clock.advance(60)
        scene.fake.comment(scene.key, scene.ann, call)
    scene.channel.post(scene.ref, PROGRESS)
    first, second = scene.fake.sessions(scene.key)
    assert (first.status, second.status) == ("pending", "active")


def test_a_request_that_is_not_followed_ends_the_session(scene: Scene) -> None:
    scene.begin_session()
    scene.channel.decline(scene.asked())
    assert said(scene) == [("response", "I do not follow this request.")]
