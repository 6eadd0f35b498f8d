"""Turn a text of ours into the messages that say it."""

from dataclasses import dataclass

from patchwright.core.channel import Offers
from patchwright.core.text.marks import Marked, split_marks
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.buttons import offer_blocks
from patchwright.integrations.slack.text.outgoing import SlackText, render


@dataclass(frozen=True, slots=True)
class ComposedMessages:
    """The messages of one text: the first stands for it, the rest follow."""

    messages: tuple[SlackText, ...]
    marked: Marked


def compose_messages(ref: TalkThread, markdown: str, offers: Offers) -> ComposedMessages:
    """Put what is offered below the first message: it is the one that is edited."""
    marked = split_marks(markdown)
    first, *rest = render(marked.text)
    blocks = (*first.blocks, *offer_blocks(ref, offers))
    shown = SlackText(text=first.text, blocks=blocks)
    return ComposedMessages(messages=(shown, *rest), marked=marked)
