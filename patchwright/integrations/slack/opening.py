"""Begin the thread of a request that was made outside of any."""

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.text.marks import Marked
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.composing import compose_messages
from patchwright.integrations.slack.direct import open_direct_message
from patchwright.integrations.slack.metadata import marks_of, run_metadata
from patchwright.integrations.slack.payloads import MessagePage
from patchwright.integrations.slack.places import (
    channel_of,
    is_unopened,
    person_of,
    team_of,
)
from patchwright.integrations.slack.posts import send
from patchwright.integrations.slack.threads import is_own

# How many messages may have been written between two tries.
_LATEST = 100


def open_thread(api: SlackClient, trigger: Trigger, text: str) -> TalkThread:
    """Post the text, which says who asked for what, and return the thread of that.

    It is in the channel of the request, or with the asker where we may not write there.
    """
    ref = trigger.thread
    if not isinstance(ref, TalkThread):
        raise InvalidRequestError(f"{ref} is no thread of Slack's")
    if not is_unopened(ref):
        return ref
    if person_of(ref) is None:
        try:
            return _post_opening(api, ref, text)
        except (PermissionDeniedError, NotFoundError):
            # A slash command works also where we were never invited.
            pass
    direct = open_direct_message(api, ref, person_of(ref) or trigger.actor.external_id)
    return _post_opening(api, direct, text)


def _post_opening(api: SlackClient, ref: TalkThread, text: str) -> TalkThread:
    mark = f"<!-- patchwright:opened={ref.id} -->"
    # Marks of ours are put in here alone: the text has other people's words.
    said = text.replace("<!--", "<! --")
    ts = _find(api, ref, mark) or _post(api, ref, f"{said}\n{mark}")
    return ref.replace(id=ts)


def _find(api: SlackClient, ref: TalkThread, mark: str) -> str | None:
    """Return the message of an earlier try, if there is one."""
    team, channel = team_of(ref), channel_of(ref)
    own = api.identity(team)
    found = api.ask(
        team,
        MessagePage,
        lambda client: client.conversations_history(
            channel=channel, limit=_LATEST, include_all_metadata=True
        ),
    )
    ours = (m for m in found.messages if is_own(m, own) and mark in marks_of(m))
    return next((message.ts for message in ours), None)


def _post(api: SlackClient, ref: TalkThread, text: str) -> str:
    composed = compose_messages(ref, text, ())
    first, *rest = composed.messages
    root = send(api, ref, first, run_metadata(composed.marked)).ts
    for one in rest:
        send(api, ref, one, run_metadata(Marked(text=""), root), thread=root)
    return root
