"""Read all that people see of a message: text, blocks, attachments and files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from patchwright.integrations.slack.payloads import SlackAttachment, MessageContent, SlackFile
from patchwright.integrations.slack.text.blocks import markup_of
from patchwright.integrations.slack.text.escaping import escape
from patchwright.integrations.slack.text.incoming import people_in, to_markdown

# Files that were deleted, or that a free workspace hides.
_GONE: Final = frozenset({"tombstone", "hidden_by_limit"})
# What ends an address in Markdown, and what is markup in a name.
_ADDRESS: Final = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C"})
_MARKUP: Final = str.maketrans(dict.fromkeys("[]()<>\\`*_\r\n", " "))


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads messages with these names for people, and without mentions of ourselves."""

    names: Mapping[str, str]
    own_id: str

    def read(self, content: MessageContent) -> str:
        """Return the message as Markdown.

        A message that somebody forwards is a quotation: its author asked for nothing.
        """
        said = self._fullest(content.text, markup_of(content.blocks))
        parts = (
            said,
            *map(self._attachment, content.attachments),
            *map(as_markdown, content.files),
        )
        return _joined(parts)

    def _attachment(self, one: SlackAttachment) -> str:
        if one.is_message:
            return _quoted(self._forwarded(one))
        # A preview of a link is the work of whoever owns the page.
        return "" if one.from_url else self._added(one)

    def _forwarded(self, one: SlackAttachment) -> str:
        blocks = (block for some in one.message_blocks for block in some.message.blocks)
        author = self._markdown(escape(one.author_name or one.author_id))
        place = self._markdown(escape(one.channel_name))
        by = f"Forwarded message of {author}" if author else "Forwarded message"
        heading = f"{by} in #{place}:" if place else f"{by}:"
        said = self._fullest(one.text or one.fallback, markup_of(blocks))
        return _joined((heading, said, *map(as_markdown, one.files)))

    def _added(self, one: SlackAttachment) -> str:
        """Return what an app says in the older way."""
        fields = (f"{field.title}: {field.value}" for field in one.fields)
        title = f"{one.title} ({one.title_link})" if one.title_link else one.title
        shown = (one.pretext, one.author_name, title, one.text, *fields)
        markup = "\n".join(filter(None, shown))
        said = self._fullest(markup, markup_of(one.blocks))
        files = map(as_markdown, one.files)
        return _joined((said or self._markdown(one.fallback), *files))

    def _fullest(self, text: str, blocks: str) -> str:
        """Return the text if it says what the blocks say, else the blocks, or both."""
        of_text, of_blocks = self._markdown(text), self._markdown(blocks)
        if _letters(of_blocks) in _letters(of_text):
            return of_text
        if _letters(of_text) in _letters(of_blocks):
            return of_blocks
        return _joined((of_text, of_blocks))

    def _markdown(self, markup: str) -> str:
        return to_markdown(markup, names=self.names, own_id=self.own_id)


def people_of(content: MessageContent) -> frozenset[str]:
    """Return the ids of those whose names are needed to show a message."""
    return people_in("\n".join(_markups(content)))


def files_of(content: MessageContent) -> tuple[SlackFile, ...]:
    """Return the files of a message, also those of a message that it forwards."""
    forwarded = (file for one in content.attachments for file in one.files)
    return (*content.files, *forwarded)


def as_markdown(file: SlackFile) -> str:
    """Name a file as a post would: a picture to be seen, or a link."""
    if not file.url_private or file.mode in _GONE:
        return ""
    name = (file.title or file.name or "file").translate(_MARKUP).strip() or "file"
    link = f"[{name}]({address_of(file)})"
    return f"!{link}" if file.mimetype.startswith("image/") else link


def address_of(file: SlackFile) -> str:
    """Return where it is, as a post links to it."""
    return file.url_private.translate(_ADDRESS)


def _markups(content: MessageContent) -> Iterator[str]:
    yield content.text
    yield markup_of(content.blocks)
    for one in content.attachments:
        yield from (one.pretext, one.title, one.text, one.fallback)
        yield from (field.value for field in one.fields)
        yield markup_of(one.blocks)
        yield from (markup_of(some.message.blocks) for some in one.message_blocks)


def _quoted(markdown: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
