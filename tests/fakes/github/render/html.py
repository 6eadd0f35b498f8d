"""Texts as HTML, as far as it matters: what is uploaded and private has a signature."""

import re
from html import escape

from tests.fakes.github.attachments import signed_address
from tests.fakes.github.call import Call
from tests.fakes.github.exchange import Json
from tests.fakes.github.state import World

_IMAGE = re.compile(
    r"!\[[^\]]*\]\((?P<link>[^)\s]+)\)|<img[^>]*src=\"(?P<source>[^\"]+)\""
)
_UPLOAD = re.compile(r"/user-attachments/assets/(?P<id>[0-9a-f-]{36})")


def rendered(call: Call, shown: Json) -> Json:
    """Add the HTML where the media type asks for it.

    https://docs.github.com/rest/issues/issues#get-an-issue
    """
    if "full+json" not in call.request.headers.get("accept", ""):
        return shown
    return {**shown, "body_html": html_of(call.world, shown["body"] or "")}


def html_of(world: World, text: str) -> str:
    images = (match["link"] or match["source"] for match in _IMAGE.finditer(text))
    return "".join(
        f'<p><a href="{source}"><img src="{source}" alt="image"></a></p>'
        for source in (escape(_source(world, one)) for one in images)
    )


def _source(world: World, url: str) -> str:
    upload = _UPLOAD.search(url)
    attachment = world.attachments.get(upload["id"]) if upload else None
    if attachment is None or not world.repo(attachment.repo).private:
        return url
    return signed_address(world, attachment.id)
