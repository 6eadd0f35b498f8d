"""Find the pictures that posts show, and fetch them as what they are."""

import base64
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Final

from patchwright.core.channel import Channel
from patchwright.core.llm.model import Image
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import MarkdownPiece, PieceKind, read_markdown
from patchwright.core.types.base import Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.threads import ThreadPost, ThreadRef
from patchwright.resolver.context.context import ContextImage

MAX_IMAGES: Final = 6
MAX_BYTES: Final = 5_000_000
TOO_MANY: Final = f"only {MAX_IMAGES} are read"
NO_IMAGE: Final = "it is not a PNG, JPEG, GIF or WebP"

_SOURCE = re.compile(
    r"<img\b[^>]*?\ssrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
# An upload has no name that says what it is; it is shown where it stands alone.
# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/attaching-files
_UPLOAD = re.compile(
    # Bounded, as every "http" of a text is a place to begin at.
    r"https?://[^\s<>\"')\]]{1,200}?/user-attachments/assets/[0-9a-f-]{36}(?![\w-])"
)
_NOT_PROSE = frozenset({PieceKind.CODE, PieceKind.FENCE})
_KINDS: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png", "png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg", "jpg"),
    (re.compile(rb"GIF8[79]a"), "image/gif", "gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp", "webp"),
)


class ImageReference(Value):
    """A picture in a post, by its address there."""

    url: str
    post_id: str


class FetchedImages(Value):
    """The pictures, read or not; `images` are by name."""

    pictures: tuple[ContextImage, ...] = ()
    images: dict[str, Image] = {}


def find_images(posts: Iterable[ThreadPost]) -> list[ImageReference]:
    """Return the pictures that readers of the posts see, each once."""
    found: dict[str, ImageReference] = {}
    for post in posts:
        for url in _addresses(post.text):
            found.setdefault(url, ImageReference(url=url, post_id=post.id))
    return list(found.values())


def fetch_images(
    channel: Channel, thread: ThreadRef, shown: Iterable[ImageReference]
) -> FetchedImages:
    """Fetch the first of them; a file that is no picture is reported.

    They are named in their order, `image-1.png` first.
    """
    pictures: list[ContextImage] = []
    images: dict[str, Image] = {}
    for one in shown:
        if len(images) == MAX_IMAGES:
            pictures.append(ContextImage(url=one.url, problem=TOO_MANY))
            continue
        read = _fetch(channel, thread, one)
        if isinstance(read, str):
            pictures.append(ContextImage(url=one.url, problem=read))
            continue
        name = f"image-{len(images) + 1}.{_file_ending(read)}"
        images[name] = read.replace(name=name)
        pictures.append(ContextImage(url=one.url, name=name))
    return FetchedImages(pictures=tuple(pictures), images=images)


def image_of(data: bytes) -> Image | None:
    """Return the picture that the bytes are, judged by how they begin."""
    for beginning, media_type, _ in _KINDS:
        if beginning.match(data):
            encoded = base64.b64encode(data).decode("ascii")
            return Image(media_type=media_type, data=encoded)
    return None


def _fetch(channel: Channel, thread: ThreadRef, shown: ImageReference) -> Image | str:
    """Return the picture, or why there is none."""
    try:
        data = channel.fetch_attachment(thread, shown.url, MAX_BYTES, shown.post_id)
    except ServiceError as error:
        return str(error)
    return image_of(data) or NO_IMAGE


def _file_ending(image: Image) -> str:
    return next(end for _, kind, end in _KINDS if kind == image.media_type)


def _addresses(text: str) -> Iterator[str]:
    """Yield the addresses in the order in which they stand, without hidden ones."""
    source = read_markdown(strip_hidden(text).text)
    found: list[tuple[int, str]] = []
    prose = source.text
    for piece in source.pieces:
        found += _addresses_in_piece(piece, source.text)
        if piece.kind in _NOT_PROSE:
            blank = " " * (piece.end - piece.start)
            prose = prose[: piece.start] + blank + prose[piece.end :]
    found += [(match.start(), match[0]) for match in _UPLOAD.finditer(prose)]
    for _, url in sorted(found):
        if url.startswith(("https://", "http://")):
            yield url


def _addresses_in_piece(piece: MarkdownPiece, text: str) -> Iterator[tuple[int, str]]:
    if piece.kind is PieceKind.IMAGE:
        yield piece.start, piece.href
    elif piece.kind is PieceKind.HTML:
        for match in _SOURCE.finditer(text, piece.start, piece.end):
            url = next(part for part in match.groups() if part is not None)
            yield match.start(), unescape(url)
