"""Pictures are found where readers see them, and are what their bytes say."""

from datetime import UTC, datetime

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ThreadPost
from patchwright.resolver.context.images import find_images, image_of

UPLOAD = (
    "https://github.com/user-attachments/assets/01234567-89ab-4def-8123-0123456789ab"
)
SHOT = "https://example.com/shot.png"


def found(text: str) -> list[str]:
    post = ThreadPost(
        id="1",
        author=Actor(service="github", login="alice"),
        text=text,
        at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    return [one.url for one in find_images([post])]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        (f"![shot]({SHOT})", [SHOT]),
        (f"![shot][1]\n\n[1]: {SHOT}", [SHOT]),
        (f'<img width="300" alt="a>b" src="{SHOT}?a=1&amp;b=2">', [f"{SHOT}?a=1&b=2"]),
        (f"<details><summary>x</summary>\n\n![]({SHOT})\n</details>", [SHOT]),
        (f"Look:\n\n{UPLOAD}\n", [UPLOAD]),
        (f"[the log]({UPLOAD})", [UPLOAD]),
        (f"{UPLOAD} and ![]({SHOT}) and {UPLOAD}", [UPLOAD, SHOT]),
    ],
)
def test_c4_what_readers_see_is_found(text: str, urls: list[str]) -> None:
    assert found(text) == urls


@pytest.mark.parametrize(
    "text",
    [
        f"`![shot]({SHOT})`",
        f"```\n<img src='{SHOT}'>\n```",
        f"`{UPLOAD}`",
        f"<!-- ![shot]({SHOT}) {UPLOAD} -->",
        f"<div hidden>\n<img src='{SHOT}'>\n</div>",
        f'<img hidden src="{SHOT}">',
        f'<img width="1" height="1" src="{SHOT}">',
        "![shot](docs/shot.png)",
        "![shot](file:///etc/passwd)",
        f"see {SHOT}",
    ],
)
def test_c4_code_hidden_things_and_plain_links_are_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"RIFF\x0a\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_bytes(data: bytes, kind: str) -> None:
    image = image_of(data)
    assert image is not None
    assert image.media_type == kind


@pytest.mark.parametrize("data", [b"", b"<svg xmlns=''/>", b"<html>", b"RIFF....WAVE"])
def test_anything_else_is_none_whatever_its_name(data: bytes) -> None:
    assert image_of(data) is None
