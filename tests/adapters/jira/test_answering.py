"""Our comments are posted once, edited in place, and found again by their marks."""

import json
from html import unescape

import pytest

from patchwright.core.channel import Offer
from patchwright.core.text.escape import mention_link
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from tests.adapters.jira.conftest import Scene

RUNNING = "**Working on it**\n\n<!-- patchwright:state=running run=7f3a -->"
DONE = "**Done** in `a_b.py`\n\n<!-- patchwright:state=resolved run=7f3a -->"
PING = "<!-- patchwright:ping run=7f3a resolved@4 -->"


def words(scene: Scene) -> list[str]:
    """Return what people see; in wiki markup some signs stand by their numbers."""
    return [unescape(one.body.wiki) for one in scene.fake.comments(scene.key)]


def test_s40_comment_is_edited_in_place(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    scene.channel.edit(scene.ref, post, DONE)
    assert words(scene) == ["*Done* in {{a_b.py}}"]


def test_watchers_are_not_written_to_for_each_edit(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    scene.channel.edit(scene.ref, post, DONE)
    (edit,) = [seen for seen in scene.fake.requests if seen.method == "PUT"]
    assert edit.query == {"notifyUsers": "false"}


def test_marks_are_kept_where_no_reader_sees_them(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    (comment,) = scene.fake.comments(scene.key)
    assert "patchwright:" not in comment.body.wiki
    assert comment.properties["patchwright"]["run"] == "7f3a"
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post


def test_each_comment_is_found_by_its_own_mark(scene: Scene) -> None:
    status = scene.channel.post(scene.ref, f"See [run](https://pw/7f3a)\n\n{RUNNING}")
    called = scene.channel.post(scene.ref, f"Look: [run](https://pw/7f3a)\n\n{PING}")
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == status
    assert scene.channel.find_post(scene.ref, PING) == called
    assert scene.channel.find_post(scene.ref, "run=0000 -->") is None


def test_edited_comment_has_the_mark_of_its_new_text(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    scene.channel.edit(scene.ref, post, DONE)
    said = scene.channel.fetch_thread(scene.ref).posts[-1].text
    assert "patchwright:state=resolved run=7f3a -->" in said
    assert "state=running" not in said


def test_where_the_marks_were_lost_the_link_to_the_run_tells_it(scene: Scene) -> None:
    text = f"**Working** · [live log](https://pw.example/runs/7f3a)\n\n{RUNNING}"
    post = scene.channel.post(scene.ref, text)
    scene.fake.comments(scene.key)[0].properties.clear()
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post
    assert scene.channel.find_post(scene.ref, PING) is None


def test_our_comment_is_found_behind_250_others(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    for count in range(250):
        scene.fake.comment(scene.key, scene.ann, f"Comment {count}")
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post


def test_mark_of_another_person_is_not_ours(scene: Scene) -> None:
    scene.fake.comment(scene.key, scene.ann, RUNNING)
    forged = {"state": "running", "run": "7f3a", "marks": [RUNNING]}
    scene.fake.comments(scene.key)[0].properties["patchwright"] = forged
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") is None
    post = scene.channel.fetch_thread(scene.ref).posts[-1]
    assert "<!-- patchwright:" not in post.text


def test_person_is_called_by_their_id(scene: Scene) -> None:
    scene.channel.post(scene.ref, f"{mention_link('Ann', scene.ann)} it is done")
    assert words(scene) == [f"{scene.fake.mention(scene.ann)} it is done"]


def test_s75_each_flavour_gets_its_own_format(cloud: Scene, data_center: Scene) -> None:
    for scene in (cloud, data_center):
        scene.channel.post(scene.ref, DONE)
    sent = [
        json.loads(scene.fake.requests[-1].body)["body"]
        for scene in (cloud, data_center)
    ]
    assert sent[0]["type"] == "doc"
    assert sent[1] == "*Done* in {{a_b.py}}"


def test_deleted_comment_is_not_found(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, RUNNING)
    scene.fake.delete_comment(post)
    with pytest.raises(NotFoundError):
        scene.channel.edit(scene.ref, post, DONE)


def test_write_is_never_repeated_by_itself(scene: Scene) -> None:
    scene.fake.fail_next("POST", r"/comment$", 502)
    with pytest.raises(ServiceUnavailableError):
        scene.channel.post(scene.ref, DONE)
    assert scene.fake.comments(scene.key) == []


def test_text_of_any_length_is_accepted(scene: Scene) -> None:
    scene.channel.post(scene.ref, f"Start\n\n```\n{'x = {1}' * 20_000}\n```\n\nEnd")
    (said,) = words(scene)
    assert said.startswith("Start")
    assert said.endswith("End")


def test_offers_that_the_text_makes_are_not_made_again(scene: Scene) -> None:
    approve = Offer(words="Approve", command="approve")
    stop = Offer(words="Stop", command="stop")
    page = Offer(words="Open the run", url="https://pw.example/runs/7f3a")
    text = "Here is the plan: reply `@patchwright approve`."
    scene.channel.post(scene.ref, text, (approve, stop, page))
    (said,) = words(scene)
    assert said.count("@patchwright approve") == 1
    assert "@patchwright stop" in said
    assert "https://pw.example/runs/7f3a" in said


def test_request_is_acknowledged_and_declined_without_a_trace(scene: Scene) -> None:
    trigger = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=scene.actor,
        thread=scene.ref,
        request="fix it",
    )
    before = len(scene.fake.requests)
    scene.channel.acknowledge(trigger)
    scene.channel.decline(trigger)
    assert len(scene.fake.requests) == before
    assert scene.channel.open_thread(trigger, "Queued") == scene.ref
    assert scene.ref.kind is ThreadKind.TICKET


def limits(scene: Scene) -> list[object]:
    return [one.visibility for one in scene.fake.comments(scene.key)]


@pytest.mark.parametrize(
    ("audience", "limit"),
    [
        ("role:Developers", {"type": "role", "value": "Developers"}),
        ("group:staff", {"type": "group", "value": "staff"}),
        ("group-id:7f-1", {"type": "group", "identifier": "7f-1"}),
    ],
)
def test_who_may_read_an_answer_stays_so_when_it_is_edited(
    scene: Scene, audience: str, limit: dict[str, str]
) -> None:
    ref = scene.ref.replace(audience=audience)
    post = scene.channel.post(ref, RUNNING)
    assert limits(scene) == [limit]
    scene.channel.edit(ref, post, DONE)
    assert limits(scene) == [limit]


def test_an_answer_among_colleagues_is_no_word_to_customers(cloud: Scene) -> None:
    ref = cloud.ref.replace(audience="internal")
    post = cloud.channel.post(ref, RUNNING)
    cloud.channel.edit(ref, post, DONE)
    (comment,) = cloud.fake.comments(cloud.key)
    assert comment.properties["sd.public.comment"] == {"internal": True}


def test_where_we_may_not_write_for_some_alone_nothing_is_told_to_all(
    scene: Scene,
) -> None:
    scene.fake.world.foreign_roles.add("Developers")
    ref = scene.ref.replace(audience="role:Developers")
    post = scene.channel.post(ref, RUNNING)
    scene.channel.edit(ref, post, DONE)
    assert limits(scene) == [None]
    [shown] = words(scene)
    assert "a_b.py" not in shown
    assert "cannot write for them" in shown
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post


@pytest.mark.parametrize("audience", ["role:Developers", "internal"])
def test_what_jira_refuses_for_another_reason_is_told_as_such(
    scene: Scene, audience: str
) -> None:
    """Nobody is told that the bot may not write for them, where it may."""
    too_long = {"errorMessages": [], "errors": {"comment": "CONTENT_LIMIT_EXCEEDED"}}
    ref = scene.ref.replace(audience=audience)
    scene.fake.fail_next("POST", "/comment$", 400, body=too_long)
    with pytest.raises(InvalidRequestError, match="comment: CONTENT_LIMIT_EXCEEDED"):
        scene.channel.post(ref, RUNNING)
    assert words(scene) == []
    post = scene.channel.post(ref, RUNNING)
    scene.fake.fail_next("PUT", "/comment/", 400, body=too_long)
    with pytest.raises(InvalidRequestError, match="CONTENT_LIMIT_EXCEEDED"):
        scene.channel.edit(ref, post, DONE)
    assert words(scene) == ["*Working on it*"]
