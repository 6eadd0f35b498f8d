"""What Slack waits three seconds for, with a GitHub that does not answer."""

from pathlib import Path

from patchwright.core.system.clock import SystemClock
from patchwright.integrations.slack.text.actions import SHORTCUT_NEW_REQUEST
from tests.fakes.slack.fake import FakeSlack
from tests.flow.office import in_office
from tests.flow.story import REPO
from tests.provision.waiting import wait_until

# https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response
SLACK_WAITS_S = 3.0
CLOCK = SystemClock()


def test_s74_a_form_and_its_field_are_answered_in_time_and_by_what_is_known_later(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, [], private=True) as office:
        slack, jo = office.slack.fake, office.slack.jo
        # Whoever asks GitHub anything waits until the lock is free.
        with office.story.github.world.lock:
            began_at = CLOCK.monotonic()
            slack.shortcut(jo, SHORTCUT_NEW_REQUEST)
            wait_until(lambda: _has_form(slack, jo), "the form", 10)
            assert CLOCK.monotonic() - began_at < SLACK_WAITS_S
            form = slack.form(jo)
            began_at = CLOCK.monotonic()
            assert slack.search(jo, form, "shop") == []
            assert CLOCK.monotonic() - began_at < SLACK_WAITS_S
        wait_until(lambda: slack.search(jo, form, "shop") == [REPO], "its name", 10)


def _has_form(slack: FakeSlack, user: str) -> bool:
    return any(one.user == user for one in slack.world.forms)
