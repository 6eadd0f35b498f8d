"""What a message offers, as buttons and as a field to find a repository in."""

from collections.abc import Iterator
from typing import Final

from patchwright.core.channel import Offer, Offers
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.actions import (
    COMMAND,
    OPEN,
    REPOSITORY,
    Press,
    block_about,
    encode_press,
    numbered,
)

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
    button: Block = {"type": "button", "text": plain_text_object(offer.words, MAX_LABEL)}
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
