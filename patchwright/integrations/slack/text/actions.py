"""The buttons and fields of our messages: names, values and appearance."""

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from patchwright.core.channel import Offer, Offers
from patchwright.core.types.base import Value
from patchwright.core.types.errors import PayloadError
from patchwright.core.types.threads import TalkThread, ThreadKind

SERVICE: Final = "slack"

# Action ids. Within one block they must differ, so that buttons end in a number:
# https://docs.slack.dev/reference/block-kit/block-elements/button-element
COMMAND: Final = "patchwright:command"
OPEN: Final = "patchwright:open"
REPOSITORY: Final = "patchwright:repository"
DEFAULT_REPOSITORY: Final = "patchwright:default"
NEW_REQUEST: Final = "patchwright:new"

# Callback ids of shortcuts, as the app manifest names them, and of our form.
SHORTCUT_FIX_THIS: Final = "fix_this"
SHORTCUT_NEW_REQUEST: Final = "new_request"
FORM: Final = "patchwright:form"

# The fields of the form: block id and action id are the same.
FORM_WORDS: Final = "patchwright:words"
FORM_REPOSITORY: Final = REPOSITORY

_BLOCK: Final = "patchwright:in"


class Press(Value):
    """What a button gives us: a command, with `asks` after a form for more words."""

    command: str
    asks: str = ""


class FormTarget(Value):
    """Where the words of a form go: with no thread they are a request of their own."""

    thread: TalkThread | None = None
    command: str = ""


def numbered(action: str, number: int) -> str:
    """Return an action id that differs from others of the same action."""
    return f"{action}:{number}"


def action_of(action_id: str) -> str:
    """Take the number off an action id."""
    head, _, tail = action_id.rpartition(":")
    return head if tail.isdecimal() else action_id


def encode_press(press: Press) -> str:
    """Return the value of a button; Slack takes 2,000 characters."""
    return press.model_dump_json(exclude_defaults=True)


def decode_press(value: str) -> Press:
    """Read the value of a button; raises PayloadError."""
    try:
        return Press.model_validate_json(value)
    except ValidationError:
        raise PayloadError("the value of the button is unknown") from None


def encode_form(target: FormTarget) -> str:
    """Return the `private_metadata` of our form; Slack takes 3,000 characters."""
    return target.model_dump_json(exclude_defaults=True)


def decode_form(metadata: str) -> FormTarget:
    """Read the `private_metadata` of our form; raises PayloadError."""
    try:
        return FormTarget.model_validate_json(metadata or "{}")
    except ValidationError:
        raise PayloadError("the form has no purpose") from None


def block_about(thread: TalkThread, number: int) -> str:
    """Name a block so that what is pressed in it says which thread it is about.

    A message in another place, such as one for a single person's eyes, does not tell.
    The numbers of one message's blocks must differ. Slack takes 255 characters.
    """
    return f"{_BLOCK}:{number}:{thread.place}#{thread.id}"


def thread_of_block(block_id: str) -> TalkThread | None:
    """Return the thread that a block of ours is about, None if it names none."""
    if not block_id.startswith(f"{_BLOCK}:"):
        return None
    place, _, thread_id = block_id[len(_BLOCK) + 1 :].partition(":")[2].partition("#")
    if not (place and thread_id):
        return None
    return TalkThread(service=SERVICE, place=place, kind=ThreadKind.CHAT, id=thread_id)


Block = dict[str, object]

# https://docs.slack.dev/reference/block-kit/block-elements/button-element
MAX_LABEL: Final = 75
# Slack takes 25; more than five do not fit in a line.
# https://docs.slack.dev/reference/block-kit/blocks/actions-block
IN_A_ROW: Final = 5
MAX_PLACEHOLDER: Final = 150
_STYLES: Final = {"approve": "primary", "stop": "danger", "reject": "danger"}


def offer_blocks(ref: TalkThread, offers: Offers) -> tuple[Block, ...]:
    """Return the blocks that stand below a text."""
    elements = [_element(offer, number) for number, offer in enumerate(offers)]
    return tuple(
        {
            "type": "actions",
            "block_id": block_about(ref, number),
            "elements": row,
        }
        for number, row in enumerate(_rows(elements))
    )


def repository_field(words: str, action_id: str) -> Block:
    """Return a field that asks us what there is, from the first letter on."""
    return {
        "type": "external_select",
        "action_id": action_id,
        "placeholder": plain_text_object(words, MAX_PLACEHOLDER),
        "min_query_length": 1,
    }


def plain_text_object(words: str, longest: int) -> Block:
    """Return a text in which nothing is markup, cut to what Slack takes."""
    shown = words if len(words) <= longest else f"{words[: longest - 1]}…"
    return {"type": "plain_text", "text": shown, "emoji": True}


def _element(offer: Offer, number: int) -> Block:
    if offer.picks_repository:
        return repository_field(offer.words, numbered(REPOSITORY, number))
    button: Block = {
        "type": "button",
        "text": plain_text_object(offer.words, MAX_LABEL),
    }
    if offer.url:
        return {**button, "action_id": numbered(OPEN, number), "url": offer.url}
    press = encode_press(Press(command=offer.command, asks=offer.asks))
    style = _STYLES.get(offer.command)
    return {
        **button,
        "action_id": numbered(COMMAND, number),
        "value": press,
        **({"style": style} if style else {}),
    }


def _rows(elements: list[Block]) -> Iterator[list[Block]]:
    for start in range(0, len(elements), IN_A_ROW):
        yield elements[start : start + IN_A_ROW]
