"""Show the agent what a thread refers to, and name its pictures."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.text.cleaner import TextCleaner
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import as_data
from patchwright.resolver.context import LinkedItem, ContextImage, QuotedText
from patchwright.resolver.section import TaskSection

MAX_QUOTE_CHARS: Final = 4_000
UNREAD: Final = "[could not be read]"


def mentions_section(mentioned: Sequence[LinkedItem], cleaner: TextCleaner) -> TaskSection:
    """Write down what the thread refers to; it is information, not the request."""
    if not mentioned:
        return TaskSection()
    parts = [
        "What the thread refers to:",
        *(_item_text(one, cleaner) for one in mentioned),
    ]
    return TaskSection(text="\n\n".join(parts))


def images_section(pictures: Sequence[ContextImage], cleaner: TextCleaner) -> TaskSection:
    """Name the pictures; those that could not be read are told as such."""
    if not pictures:
        return TaskSection()
    lines = [_image_line(one, cleaner) for one in pictures]
    text = (
        "Images in the thread. Those with a name are attached to this message if you "
        "can see images, and are files in /workspace/context/images:"
    )
    return TaskSection(
        text=f"{text}\n\n{as_data('images', 'the thread', chr(10).join(lines))}"
    )


def image_notes(pictures: Sequence[ContextImage], cleaner: TextCleaner) -> tuple[str, ...]:
    """Tell the reader which pictures nobody has looked at, and why."""
    return tuple(
        f"An image could not be read ({one.problem}): {cleaner.clean_name(one.url)}"
        for one in pictures
        if not one.name
    )


def _item_text(one: LinkedItem, cleaner: TextCleaner) -> str:
    name = cleaner.clean_name(one.name)
    if not one.quotes:
        return as_data(f"about {name}", "nobody", UNREAD)
    return "\n\n".join(_quote_text(name, quote, cleaner) for quote in one.quotes)


def _quote_text(name: str, quote: QuotedText, cleaner: TextCleaner) -> str:
    is_code = quote.author is None
    text = cleaner.clean_code(quote.text) if is_code else cleaner.clean(quote.text)
    author = quote.author.login if quote.author else "git"
    shown = truncate_middle(text, MAX_QUOTE_CHARS)
    return as_data(f"{quote.what} {name}", author, shown, quote.role)


def _image_line(one: ContextImage, cleaner: TextCleaner) -> str:
    name = one.name or f"[could not be read: {one.problem}]"
    return f"{name} is {cleaner.clean_name(one.url)}"
