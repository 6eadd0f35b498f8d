"""Read our form when somebody sends it."""

from typing import Final

from pydantic import TypeAdapter

from patchwright.core.errors import PayloadError
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.actions import (
    FORM,
    FORM_REPOSITORY,
    FORM_WORDS,
    decode_form,
)
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.interactions import Interaction, ModalView
from patchwright.integrations.slack.reading.origin import (
    member_of,
    origin_of_interaction,
)

_INTERACTION: Final = TypeAdapter(Interaction)


def read_submission(body: bytes) -> ParsedWebhook:
    sent = _INTERACTION.validate_json(body)
    view = sent.view
    if view is None:
        raise PayloadError("the delivery has no form")
    if view.callback_id != FORM:
        return Ignored(reason="other-form")
    target = decode_form(view.private_metadata)
    request = f"{target.command} {_words_of(view)}".strip()
    if not request:
        return Ignored(reason="nothing-written")
    origin = origin_of_interaction(sent)
    # A request of its own begins where the person who made it is told of it.
    own = origin.new_thread(f"@{sent.user.id}", sent.trigger_id)
    return make_trigger(
        origin,
        target.thread or own,
        f"form:{view.id}",
        member_of(origin, sent.user),
        request=request,
        kind=(
            TriggerKind.COMMENT_MENTION if target.thread else TriggerKind.BODY_MENTION
        ),
    )


def _words_of(view: ModalView) -> str:
    words = view.find(FORM_WORDS).value.strip()
    repository = view.find(FORM_REPOSITORY).picked
    return f"{words}\n\nrepo:{repository}" if words and repository else words
