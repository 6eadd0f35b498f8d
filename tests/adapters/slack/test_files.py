"""Files are read with our token, which no other host gets to see."""

import pytest

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.channel import check_host, fetch_file
from patchwright.integrations.slack.text.message_content import SlackFile
from patchwright.integrations.slack.text.message_reader import as_markdown
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.state import File as Uploaded

API = "https://slack.com/api"


def attached(fake: FakeSlack, office: Office, file: Uploaded) -> TalkThread:
    return office.thread(fake.say(office.ann, office.channel, "see", files=(file,)))


def test_a_file_is_fetched(fake: FakeSlack, office: Office, slack: Slack) -> None:
    file = fake.scene.upload(office.ann, "shot.png", "image/png", b"\x89PNG")
    thread = attached(fake, office, file)
    data = slack.channel.fetch_attachment(thread, file.url_private, 100)
    assert data == b"\x89PNG"


def test_our_rights_open_no_file_that_is_only_named(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    """Who knows the address of a file in a place that they may not see may name it."""
    file = fake.scene.upload(office.bob, "pay.png", "image/png", b"x")
    root = fake.mention(office.ann, office.channel, f"see <{file.url_private}>")
    with pytest.raises(NotFoundError, match="no such attached file"):
        slack.channel.fetch_attachment(office.thread(root), file.url_private, 100)


def test_what_is_too_large_is_not_read(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    file = fake.scene.upload(office.ann, "shot.png", "image/png", b"x" * 101)
    thread = attached(fake, office, file)
    with pytest.raises(InvalidRequestError, match="larger"):
        slack.channel.fetch_attachment(thread, file.url_private, 100)


def test_without_the_right_nobody_follows_to_the_sign_in_page(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    file = fake.scene.upload(office.ann, "shot.png", "image/png", b"x")
    fake.uninstall(office.team)
    with pytest.raises(PermissionDeniedError):
        fetch_file(slack.api, office.team, file.url_private, 100)


def test_a_file_that_is_gone_is_not_found(
    fake: FakeSlack, office: Office, slack: Slack
) -> None:
    url = f"{fake.world.url}/files-pri/T1-F9/gone.png"
    with pytest.raises(NotFoundError):
        fetch_file(slack.api, office.team, url, 100)


@pytest.mark.parametrize(
    "url",
    ["https://files.slack.com/files-pri/T1-F1/a.png", "https://acme.slack.com/f/a"],
)
def test_slacks_hosts_are_known(url: str) -> None:
    check_host(API, url)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/a.png",
        "https://slack.com.evil.example/a.png",
        "https://evilslack.com/a.png",
        "http://files.slack.com/a.png",
        "https://files.slack.com:8443/a.png",
        "https://files.slack.com@evil.example/a.png",
        "https://user:secret@files.slack.com/a.png",
        "http://169.254.169.254/latest/meta-data",
        "https://[",
        "",
    ],
)
def test_other_hosts_are_refused(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        check_host(API, url)


def test_a_name_is_no_markup() -> None:
    url = "https://files.slack.com/a.png"
    file = SlackFile(name="a](http://evil) ![", mimetype="image/png", url_private=url)
    assert as_markdown(file).endswith(f"]({url})")
    assert as_markdown(file).count("](") == 1


def test_a_file_that_was_deleted_is_not_named() -> None:
    assert (
        as_markdown(SlackFile(name="a", mode="tombstone", url_private="https://x"))
        == ""
    )
