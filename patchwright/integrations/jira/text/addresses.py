"""Tell which addresses may become links, and write them so that nothing ends them."""

import re
from typing import Final

_FOLLOWED: Final = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
# Each of these ends a link, or begins something else, in Markdown or in wiki markup.
_ENDS_A_LINK: Final = re.compile(r"[\x00-\x20\x7f<>\"\\^`{|}\[\]()]")
_LONGEST: Final = 2000


def safe_address(url: str) -> str:
    """Return an address that people may be sent to, or an empty string."""
    url = url.strip()
    if len(url) > _LONGEST or not _FOLLOWED.match(url):
        return ""
    return _ENDS_A_LINK.sub(lambda sign: f"%{ord(sign[0]):02X}", url)
