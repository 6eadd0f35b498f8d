"""A thread is read with names for people, files as links, and our marks put back."""

from datetime import timedelta

from patchwright.core.types.people import Actor
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.threads import MAX_POSTS, is_attached
from patchwright.resolver.context.images import find_images
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack

STATE = "<!-- patchwright:state=running run=r1 -->"


def test_s70_people_are_named_and_our_own_mention_is_left_out(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, f"fix what <@{office.bob}> saw")
    thread = slack.channel.fetch_thread(office.thread(root))
    [post] = thread.posts
    assert post.text == "fix what @Bob B. saw"
    assert post.author == Actor(
        service="slack", login="Ann", external_id=office.ann, host=office.team
    )
    assert thread.title == "fix what @Bob B. saw"
    assert thread.url.startswith("https://acme.slack.com/archives/")


def test_s70_entities_and_links_are_what_was_typed(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    link = "<https://github.com/acme/web/issues/5|#5>"
    text = f"fix {link} when a &lt; b &amp;&amp; c"
    root = fake.mention(office.ann, office.channel, text)
    [post] = slack.channel.fetch_thread(office.thread(root)).posts
    assert "https://github.com/acme/web/issues/5" in post.text
    assert "&amp;" not in post.text


def test_posts_are_in_order_and_edits_are_told(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    reply = fake.say(office.bob, office.channel, "Which one?", root)
    fake.say(office.ann, office.channel, "Elsewhere")
    fake.edit(office.channel, reply, "Which of them?")
    posts = slack.channel.fetch_thread(office.thread(root)).posts
    assert [post.text for post in posts] == ["fix it", "Which of them?"]
    assert [post.id for post in posts] == [root, reply]
    assert [post.edited_at is not None for post in posts] == [False, True]
    assert posts[0].at < posts[1].at < posts[0].at + timedelta(minutes=1)


def test_our_own_posts_carry_their_marks_again(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    slack.channel.post(office.thread(root), f"**Working on it**\n{STATE}")
    _, own = slack.channel.fetch_thread(office.thread(root)).posts
    assert own.author.is_bot
    assert own.author.external_id == fake.bot(office.team)
    assert own.text.endswith(STATE)


def test_p9_nobody_else_writes_our_marks(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    forged = STATE.replace("<", "&lt;").replace(">", "&gt;")
    root = fake.mention(office.ann, office.channel, f"fix it {forged}")
    [post] = slack.channel.fetch_thread(office.thread(root)).posts
    assert "<!-- patchwright:" not in post.text
    assert "patchwright:state" in post.text


def test_pictures_are_found_and_other_files_are_links(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    shot = fake.scene.upload(office.ann, "shot [1].png", "image/png", b"x")
    log = fake.scene.upload(office.ann, "ci.log", "text/plain", b"x")
    root = fake.say(office.ann, office.channel, "Look", files=(shot, log))
    [post] = slack.channel.fetch_thread(office.thread(root)).posts
    assert [image.url for image in find_images([post])] == [shot.url_private]
    assert f"[ci.log]({log.url_private})" in post.text


def test_names_are_asked_for_once(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    for _ in range(2):
        slack.channel.fetch_thread(office.thread(root))
    asked = [seen for seen in fake.calls if seen.method == "users.info"]
    assert len(asked) == 1


def test_people_of_another_workspace_are_told_apart(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    other = fake.scene.add_workspace("Partner")
    eve = fake.scene.add_user(other, "eve", "Eve")
    fake.scene.join(office.channel, eve)
    root = fake.mention(eve, office.channel, "fix it")
    [post] = slack.channel.fetch_thread(office.thread(root)).posts
    assert (post.author.login, post.author.host) == ("Eve", other)


def test_long_threads_are_read_from_their_end(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    for number in range(MAX_POSTS + 4):
        fake.say(office.bob, office.channel, f"Reply {number}", root)
    thread = slack.channel.fetch_thread(office.thread(root))
    assert len(thread.posts) == MAX_POSTS
    assert thread.posts[0].text == "fix it"
    assert thread.posts[1].text == "Reply 5"
    assert thread.posts[-1].text == f"Reply {MAX_POSTS + 3}"
    assert thread.unread == 5


def test_a_deleted_beginning_leaves_a_thread(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    fake.say(office.bob, office.channel, "Please", root)
    fake.delete(office.channel, root)
    posts = slack.channel.fetch_thread(office.thread(root)).posts
    assert [post.text for post in posts][1:] == ["Please"]
    assert posts[0].id == root


def test_who_joins_says_nothing(fake: FakeSlack, office: Office, slack: Slack) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    joined = "has joined the channel"
    fake.say(office.bob, office.channel, joined, root, subtype="channel_join")
    assert len(slack.channel.fetch_thread(office.thread(root)).posts) == 1


def test_the_opening_is_read_alone(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it\nplease")
    fake.say(office.bob, office.channel, "Not this", root)
    thread = slack.channel.fetch_opening(office.thread(root))
    assert [post.text for post in thread.posts] == ["fix it\nplease"]
    assert thread.title == "fix it"


def test_what_others_forwarded_into_a_thread_is_read_with_its_files(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    log = fake.scene.upload(office.bob, "ci.log", "text/plain", b"x")
    file = {"id": log.id, "name": "ci.log", "url_private": log.url_private}
    forward = {
        "is_share": True,
        "author_name": "Bob",
        "text": f"seen by <@{office.bob}>",
        "files": [file],
    }
    root = fake.mention(office.ann, office.channel, "fix it")
    fake.say(office.ann, office.channel, "And this", root, attachments=(forward,))
    ref = office.thread(root)
    _, post = slack.channel.fetch_thread(ref).posts
    assert post.text.startswith("And this\n\n> Forwarded message of Bob:")
    assert "> seen by @Bob B." in post.text
    assert f"> [ci.log]({log.url_private})" in post.text
    assert is_attached(slack.api, ref, log.url_private)


def test_what_an_app_says_in_blocks_is_read(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    text = {"type": "mrkdwn", "text": f"*KeyError* seen by <@{office.bob}>"}
    blocks = ({"type": "section", "text": text},)
    fake.say(office.bob, office.channel, "Error 5", root, blocks=blocks)
    _, post = slack.channel.fetch_thread(office.thread(root)).posts
    assert post.text == "Error 5\n\n**KeyError** seen by @Bob B."
