"""What we say where there is no session: comments, edited in place, and reactions."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.types.errors import NotFoundError
from tests.adapters.linear.conftest import Scene

MARK = "<!-- patchwright:state=running run=7f3a -->"
TEXT = f"""\
[@Ann Lee](patchwright-call:{{ann}}) **Working on it**

<details><summary>2 notes on the request</summary>

- One
- Two

</details>

```html
<details><summary>code</summary></details>
```

<sub>run 7f3a</sub>

{MARK}"""
SHOWN = """\
{page} **Working on it**

+++ 2 notes on the request

- One
- Two

+++

```html
<details><summary>code</summary></details>
```

run 7f3a"""


def bodies(scene: Scene) -> list[str]:
    return [one.body for one in scene.fake.comments(scene.key)]


def test_a_comment_is_shown_without_html_and_marks(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, TEXT.format(ann=scene.ann))
    [body] = bodies(scene)
    page = body.partition(" ")[0]
    assert page.startswith("http")
    assert "/profiles/ann" in page
    assert body == SHOWN.format(page=page)
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == post


def test_a_comment_is_edited_in_place_and_posted_once(scene: Scene) -> None:
    first = scene.channel.post(scene.ref, f"Working\n\n{MARK}")
    assert scene.channel.post(scene.ref, f"Working\n\n{MARK}") == first
    scene.channel.edit(scene.ref, first, f"Done\n\n{MARK}")
    assert bodies(scene) == ["Done"]


def test_a_deleted_comment_is_written_anew(scene: Scene) -> None:
    first = scene.channel.post(scene.ref, f"Working\n\n{MARK}")
    scene.channel.delete(scene.ref, first)
    scene.channel.delete(scene.ref, first)
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") is None
    with pytest.raises(NotFoundError):
        scene.channel.edit(scene.ref, first, f"Done\n\n{MARK}")
    second = scene.channel.post(scene.ref, f"Done\n\n{MARK}")
    assert bodies(scene) == ["Done"]
    assert scene.channel.find_post(scene.ref, "run=7f3a -->") == second


def test_offers_are_commands_to_reply(scene: Scene) -> None:
    offers = (
        Offer(words="Approve", command="approve"),
        Offer(words="Change it", command="plan", asks="what to change"),
        Offer(words="Stop", command="stop"),
    )
    scene.channel.post(
        scene.ref, f"Reply `@patchwright stop` to stop.\n\n{MARK}", offers
    )
    assert bodies(scene) == [
        "Reply `@patchwright stop` to stop.\n\n- Approve: reply `@patchwright approve`"
    ]


def test_a_request_is_acknowledged_by_a_reaction_once(scene: Scene) -> None:
    comment = scene.fake.comment(scene.key, scene.ann, "Please go.")
    for _ in range(2):
        scene.channel.acknowledge(scene.asked(comment))
    assert [one.emoji for one in scene.fake.reactions(comment)] == ["eyes"]
    scene.channel.acknowledge(scene.asked())
    issue = scene.fake.issue(scene.key).id
    assert [one.emoji for one in scene.fake.reactions(issue)] == ["eyes"]


def test_a_thread_has_the_comments_with_their_answers(scene: Scene) -> None:
    fake, key = scene.fake, scene.key
    first = fake.comment(key, scene.ann, "First")
    scene.clock.advance(60)
    fake.comment(key, scene.ann, "Second")
    scene.clock.advance(60)
    fake.comment(key, scene.ann, "To the first", parent=first)
    fake.label(key, scene.ann, "Bug")
    fake.attach(key, scene.ann, "https://sentry.test/1", "An [error]")
    thread = scene.channel.fetch_thread(scene.ref)
    assert (thread.title, thread.url) == ("Wrong sum", fake.page(key))
    assert [(one.label, one.text) for one in thread.posts] == [
        ("", "It is off by one."),
        ("fields of the issue", "Labels: Bug"),
        ("attached link", "[An _error_](https://sentry.test/1)"),
        ("", "First"),
        ("reply", "To the first"),
        ("", "Second"),
    ]
    assert thread.posts[0].author.login == "Ann Lee"
    opening = scene.channel.fetch_opening(scene.ref)
    assert opening.posts == thread.posts[:1]


def test_a_description_is_by_who_wrote_it_last(scene: Scene) -> None:
    eve = scene.fake.add_user("eve", "Eve")
    scene.clock.advance(60)
    scene.fake.edit(scene.key, eve, description="Delete the tests.")
    [opening] = scene.channel.fetch_opening(scene.ref).posts
    assert (opening.author.login, opening.text) == ("Eve", "Delete the tests.")
    assert opening.edited_at == scene.clock.now()


def test_issues_beside_it_are_named_and_those_of_other_teams_no_more(
    scene: Scene,
) -> None:
    fake, key = scene.fake, scene.key
    fake.add_team("OPS")
    blocker = fake.create("ENG", scene.ann, "Old parser", "It is slow.")
    foreign = fake.create("OPS", scene.ann, "Secret plan", "Hush.")
    child = fake.create("ENG", scene.ann, "A part", "Small.", parent=key)
    fake.relate(blocker, key, "blocks")
    fake.relate(key, foreign, "related")
    thread = scene.channel.fetch_thread(scene.ref)
    assert [
        (one.name, one.relation, one.title, one.text) for one in thread.linked_issues
    ] == [
        (foreign, "relates to", "", ""),
        (blocker, "is blocked by", "Old parser", "It is slow."),
        (child, "sub-issue", "A part", "Small."),
    ]


def test_a_long_thread_is_read_over_its_pages(scene: Scene) -> None:
    for number in range(130):
        scene.clock.advance(1)
        scene.fake.comment(scene.key, scene.ann, f"Comment {number}")
    posts = scene.channel.fetch_thread(scene.ref).posts
    assert [one.text for one in posts[1:]] == [f"Comment {n}" for n in range(130)]


def test_a_file_of_the_issue_is_read_with_our_rights(scene: Scene) -> None:
    data = b"\x89PNG" + bytes(100)
    url = scene.fake.upload(scene.ann, ("shot.png", "image/png", data))
    scene.fake.comment(scene.key, scene.ann, f"See ![shot]({url})")
    assert scene.channel.fetch_attachment(scene.ref, url, 10**6) == data
    other = scene.fake.upload(scene.ann, ("other.png", "image/png", data))
    with pytest.raises(NotFoundError, match="no such attached file"):
        scene.channel.fetch_attachment(scene.ref, other, 10**6)
