"""A ticket is read whole: its words, fields, files, comments, and what is near it."""

import pytest

from patchwright.core.types.errors import NotFoundError
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.integrations.jira.comments import HIDDEN_TEXT
from patchwright.resolver.context.images import find_images
from tests.adapters.jira.conftest import Scene
from tests.fakes.jira.fake import EPIC_LINK
from tests.fakes.jira.state import CustomField

PNG = ("a (1).png", "image/png", b"\x89PNG\r\n\x1a\n")


def test_ticket_has_its_words_and_who_wrote_them(scene: Scene) -> None:
    scene.fake.comment(scene.key, scene.ann, "See {code}\na == b\n{code}")
    thread = scene.channel.fetch_thread(scene.ref)
    opening, comment = thread.posts
    assert (thread.title, opening.text) == ("Wrong sum", "It is off by one.")
    assert thread.url == f"{scene.fake.base_url}/browse/{scene.key}"
    assert "a == b" in comment.text
    assert comment.author == scene.actor
    assert thread.unread == 0


def test_ticket_without_a_description_is_an_empty_text(scene: Scene) -> None:
    key = scene.fake.create("APP", scene.ann, "No words")
    assert scene.channel.fetch_thread(scene.ref_of(key)).posts[0].text == ""
    assert scene.channel.fetch_opening(scene.ref_of(key)).posts[0].text == ""


def test_opening_is_read_without_comments(scene: Scene) -> None:
    scene.fake.comment(scene.key, scene.ann, "More")
    thread = scene.channel.fetch_opening(scene.ref)
    assert [post.text for post in thread.posts] == ["It is off by one."]
    assert not any(seen.path.endswith("/comment") for seen in scene.fake.requests)


def test_comments_are_read_in_pages_and_the_oldest_counted(scene: Scene) -> None:
    for count in range(520):
        scene.fake.comment(scene.key, scene.ann, f"Comment {count}")
    thread = scene.channel.fetch_thread(scene.ref)
    assert thread.unread == 20
    assert len(thread.posts) == 501
    assert thread.posts[-1].text == "Comment 519"


def test_our_own_comment_is_known_as_ours(scene: Scene) -> None:
    mark = "<!-- patchwright:state=running run=1 -->"
    scene.channel.post(scene.ref, f"Working\n\n{mark}")
    ours = scene.channel.fetch_thread(scene.ref).posts[-1]
    assert ours.author.is_bot
    assert mark in ours.text


def test_edited_texts_say_when(scene: Scene) -> None:
    bo = scene.fake.add_user("bo")
    comment = scene.fake.comment(scene.key, scene.ann, "First")
    scene.clock.advance(60)
    scene.fake.edit_comment(comment, scene.ann, "Second")
    scene.fake.edit(scene.key, bo, description="It is off by two.")
    opening, said = scene.channel.fetch_thread(scene.ref).posts
    assert said.edited_at is not None
    assert opening.edited_at is not None
    assert (opening.author.login, opening.text) == ("Bo", "It is off by two.")


def test_other_changes_do_not_count_as_edits(scene: Scene) -> None:
    scene.fake.label(scene.key, scene.ann, "urgent")
    scene.fake.edit(scene.key, scene.ann, summary="Wrong product")
    opening = scene.channel.fetch_thread(scene.ref).posts[0]
    assert opening.edited_at is None


def test_author_is_who_made_the_ticket_not_who_is_named_as_reporter(
    scene: Scene,
) -> None:
    bo = scene.fake.add_user("bo")
    key = scene.fake.create("APP", bo, "Fix it", "Now", reporter=scene.ann)
    thread = scene.channel.fetch_thread(scene.ref_of(key))
    assert thread.posts[0].author.external_id == bo


def test_acceptance_criteria_are_part_of_what_is_asked(scene: Scene) -> None:
    field = scene.fake.add_field("Acceptance criteria")
    scene.fake.add_field("Story points")
    scene.fake.fill_in(scene.key, scene.ann, field, "The sum of 1 and 1 is 2.")
    _, criteria = scene.channel.fetch_thread(scene.ref).posts
    assert criteria.text == "The sum of 1 and 1 is 2."
    assert criteria.label == "field: Acceptance criteria"
    assert criteria.edited_at is not None


def test_fields_are_looked_up_once(scene: Scene) -> None:
    scene.channel.fetch_thread(scene.ref)
    scene.channel.fetch_thread(scene.ref)
    asked = [seen for seen in scene.fake.requests if seen.path.endswith("/field")]
    assert len(asked) == 1


def test_attached_picture_is_found_and_fetched(scene: Scene) -> None:
    scene.fake.attach(scene.key, scene.ann, PNG)
    thread = scene.channel.fetch_thread(scene.ref)
    (shown,) = find_images(thread.posts)
    data = scene.channel.fetch_attachment(scene.ref, shown.url, 100, shown.post_id)
    assert data == PNG[2]
    assert thread.posts[-1].author == scene.actor


def test_attached_file_is_a_link(scene: Scene) -> None:
    scene.fake.attach(scene.key, scene.ann, ("x](y).log", "text/plain", b"boom"))
    post = scene.channel.fetch_thread(scene.ref).posts[-1]
    assert post.text.startswith("[x_(y).log](http://127.0.0.1")
    assert post.label == "attached file"


def test_linked_tickets_are_read_one_step_far(scene: Scene) -> None:
    near = scene.fake.create("APP", scene.ann, "Cause", "The cause")
    far = scene.fake.create("APP", scene.ann, "Far", "Too far")
    scene.fake.link(near, scene.key, outward="causes", inward="is caused by")
    scene.fake.link(far, near, outward="blocks", inward="is blocked by")
    (relative,) = scene.channel.fetch_thread(scene.ref).linked_issues
    assert (relative.name, relative.relation) == (near, "is caused by")
    assert (relative.title, relative.text) == ("Cause", "The cause")
    assert relative.author == scene.actor


def test_epic_and_sub_tasks_are_relatives(scene: Scene) -> None:
    link = scene.fake.add_field("Epic Link", custom=EPIC_LINK)
    epic = scene.fake.create("APP", scene.ann, "Sums", "All sums", kind="Epic")
    key = scene.fake.create("APP", scene.ann, "One", "1", parent=epic)
    scene.fake.fill_in(key, scene.ann, link, epic)
    task = scene.fake.create("APP", scene.ann, "Sub", kind="Sub-task", parent=key)
    relatives = scene.channel.fetch_thread(scene.ref_of(key)).linked_issues
    assert [(one.name, one.relation, one.title) for one in relatives] == [
        (epic, "epic", "Sums"),
        (task, "sub-task", "Sub"),
    ]


def test_project_that_is_not_ours_is_named_alone(scene: Scene) -> None:
    scene.fake.add_project("HR")
    secret = scene.fake.create("HR", scene.ann, "Salaries", "A lot")
    scene.fake.link(scene.key, secret, outward="relates to", inward="relates to")
    (relative,) = scene.channel.fetch_thread(scene.ref).linked_issues
    assert (relative.name, relative.title, relative.text) == (secret, "", "")


def test_linked_ticket_that_we_may_not_see_is_no_obstacle(scene: Scene) -> None:
    scene.fake.add_project("OPS")
    hidden = scene.fake.create("OPS", scene.ann, "Hidden", "Words")
    scene.fake.link(scene.key, hidden, outward="blocks", inward="is blocked by")
    scene.fake.forbid("OPS", scene.fake.bot, reading=True)
    jira = connect_jira(scene.fake.settings(), scene.clock)
    (relative,) = jira.channel.fetch_thread(scene.ref).linked_issues
    jira.close()
    assert (relative.name, relative.text) == (hidden, "")


def test_linked_ticket_that_some_alone_may_see_is_named_alone(scene: Scene) -> None:
    level = CustomField(id="security", name="Security Level", custom="securitylevel")
    scene.fake.world.custom_fields.append(level)
    secret = scene.fake.create(
        "APP", scene.ann, "Leak", "Words", custom={"security": {"name": "Staff"}}
    )
    scene.fake.link(scene.key, secret, outward="blocks", inward="is blocked by")
    (relative,) = scene.channel.fetch_thread(scene.ref).linked_issues
    assert (relative.name, relative.title, relative.text) == (secret, "", "")


def test_comment_for_some_alone_says_so(scene: Scene) -> None:
    scene.fake.comment(scene.key, scene.ann, "Between us", role="Developers")
    post = scene.channel.fetch_thread(scene.ref).posts[-1]
    assert post.label == "comment for the role Developers alone"
    assert post.text == HIDDEN_TEXT


def test_missing_ticket_is_not_found(scene: Scene) -> None:
    with pytest.raises(NotFoundError, match="do not have permission"):
        scene.channel.fetch_thread(scene.ref_of("APP-404"))


def test_key_cannot_lead_elsewhere(scene: Scene) -> None:
    with pytest.raises(NotFoundError):
        scene.channel.fetch_opening(scene.ref_of("APP-1/comment"))
