"""Tell one person something that nobody else may read."""

from patchwright.core.channel import Offers
from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.composing import ComposedMessages, compose_messages
from patchwright.integrations.slack.direct import open_direct_message
from patchwright.integrations.slack.metadata import PRIVATE_MARK, run_metadata
from patchwright.integrations.slack.payloads import EmptyResponse
from patchwright.integrations.slack.places import (
    channel_of,
    is_direct,
    is_unopened,
    person_of,
    team_of,
)
from patchwright.integrations.slack.posts import send
from patchwright.integrations.slack.text.outgoing import SlackText
from patchwright.integrations.slack.threads import fetch_root


def tell_privately(
    api: SlackClient, ref: TalkThread, actor: Actor, text: str, offers: Offers
) -> None:
    """Show it to them alone where they asked, or write to them where that cannot be."""
    if not actor.external_id:
        raise InvalidRequestError(f"{actor.login} has no id in Slack")
    composed = compose_messages(ref, f"{text}\n{PRIVATE_MARK}", offers)
    if person_of(ref) is None and not is_direct(channel_of(ref)):
        try:
            _show(api, ref, actor, composed)
        except (PermissionDeniedError, NotFoundError):
            # They, or we, are not in that channel.
            pass
        else:
            return
    _write(api, ref, actor, composed)


def _show(api: SlackClient, ref: TalkThread, actor: Actor, composed: ComposedMessages) -> None:
    thread = _thread_to_show_in(api, ref)
    for message in composed.messages:
        _show_one(api, ref, actor, message, thread)


def _show_one(
    api: SlackClient, ref: TalkThread, actor: Actor, message: SlackText, thread: str | None
) -> None:
    channel = channel_of(ref)
    api.ask(
        team_of(ref),
        EmptyResponse,
        lambda client: client.chat_postEphemeral(
            channel=channel,
            user=actor.external_id,
            thread_ts=thread,
            text=message.text,
            blocks=list(message.blocks),
        ),
    )


def _thread_to_show_in(api: SlackClient, ref: TalkThread) -> str | None:
    """Return the thread if it has a reply: in one without, nobody sees it.

    https://docs.slack.dev/reference/methods/chat.postEphemeral/
    """
    if is_unopened(ref):
        return None
    return ref.id if fetch_root(api, ref).reply_count else None


def _write(api: SlackClient, ref: TalkThread, actor: Actor, composed: ComposedMessages) -> None:
    is_here = person_of(ref) is None and is_direct(channel_of(ref))
    to = ref if is_here else open_direct_message(api, ref, actor.external_id)
    thread = ref.id if is_here and not is_unopened(ref) else ""
    for message in composed.messages:
        send(api, to, message, run_metadata(composed.marked), thread=thread)
