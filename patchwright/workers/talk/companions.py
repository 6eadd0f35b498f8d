"""What goes on beside the web side: connections of ours, and looking around."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime

from patchwright.core.types.ids import JobId
from patchwright.integrations.slack.actions import SERVICE as SLACK
from patchwright.integrations.slack.socket_mode import SocketMode
from patchwright.workers.intake.intake import Intake
from patchwright.workers.intake.polling import Polling
from patchwright.workers.queue.periodic import repeating
from patchwright.workers.store.hook_marks import HookMarks
from patchwright.workers.talk.compose import Talking
from patchwright.workers.talk.socket import KeptSocket
from patchwright.workers.talk.taking import Taking

FindPage = Callable[[JobId, datetime], str]


def make_companions(
    talking: Talking, intake: Intake, find_page: FindPage
) -> tuple[AbstractContextManager[object], ...]:
    """Return what is to be entered once there is an intake, and left before it."""
    socket = _slack_socket(talking, intake, find_page)
    return (*socket, *_jira_polling(talking, intake))


def _slack_socket(
    talking: Talking, intake: Intake, find_page: FindPage
) -> Iterator[KeptSocket]:
    slack, token = talking.sites.slack, talking.settings.slack.app_token
    if slack is None or token is None:
        return
    entrance = talking.slack_entrance(find_page, by_socket=True)
    if entrance is not None:
        take = Taking(SLACK, entrance, intake, talking.clock)
        yield KeptSocket(
            SocketMode(slack.api.open_client(), token, take, talking.clock)
        )


def _jira_polling(
    talking: Talking, intake: Intake
) -> Iterator[AbstractContextManager[None]]:
    jira, every_s = talking.sites.jira, talking.settings.jira.poll_s
    if jira is None or not every_s:
        return
    projects = talking.settings.jira.projects
    polling = Polling(
        talking.jira_listening,
        lambda since: jira.search_updated(since, projects),
        intake.submit,
        HookMarks(talking.database),
        talking.clock,
    )
    yield repeating(polling, every_s)
