"""Show the agent what a thread refers to, and name its pictures."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.text.cleaner import Cleaner
from patchwright.core.text.cut import cut_middle
from patchwright.core.text.fence import as_data
from patchwright.resolver.context import Mentioned, Picture, Quote
from patchwright.resolver.section import Section

MAX_QUOTE_CHARS: Final = 4_000
UNREAD: Final = "[could not be read]"


def brief_mentions(mentioned: Sequence[Mentioned], cleaner: Cleaner) -> Section:
    """Write down what the thread refers to; it is information, not the request."""
    if not mentioned:
        return Section()
    parts = [
        "What the thread refers to:",
        *(_written(one, cleaner) for one in mentioned),
    ]
    return Section(text="\n\n".join(parts))


def brief_pictures(pictures: Sequence[Picture], cleaner: Cleaner) -> Section:
    """Name the pictures; those that could not be read are told as such."""
    if not pictures:
        return Section()
    lines = [_line(one, cleaner) for one in pictures]
    text = (
        "Images in the thread. Those with a name are attached to this message if you "
        "can see images, and are files in /workspace/context/images:"
    )
    return Section(
        text=f"{text}\n\n{as_data('images', 'the thread', chr(10).join(lines))}"
    )


def picture_notes(pictures: Sequence[Picture], cleaner: Cleaner) -> tuple[str, ...]:
    """Tell the reader which pictures nobody has looked at, and why."""
    return tuple(
        f"An image could not be read ({one.problem}): {cleaner.clean_name(one.url)}"
        for one in pictures
        if not one.name
    )


def _written(one: Mentioned, cleaner: Cleaner) -> str:
    name = cleaner.clean_name(one.name)
    if not one.quotes:
        return as_data(f"about {name}", "nobody", UNREAD)
    return "\n\n".join(_quoted(name, quote, cleaner) for quote in one.quotes)


def _quoted(name: str, quote: Quote, cleaner: Cleaner) -> str:
    is_code = quote.author is None
    text = cleaner.clean_code(quote.text) if is_code else cleaner.clean(quote.text)
    author = quote.author.login if quote.author else "git"
    shown = cut_middle(text, MAX_QUOTE_CHARS)
    return as_data(f"{quote.what} {name}", author, shown, quote.role)


def _line(one: Picture, cleaner: Cleaner) -> str:
    name = one.name or f"[could not be read: {one.problem}]"
    return f"{name} is {cleaner.clean_name(one.url)}"
