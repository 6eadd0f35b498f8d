"""Where a browser may be sent after it has signed in: to pages of our own alone."""

import re
from typing import Final

# Two slashes, or a backslash that browsers take for one, would begin another host.
# https://url.spec.whatwg.org/#relative-slash-state
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*\Z")


def local_path(wanted: str) -> str:
    """Return the path, or nothing where it leads elsewhere."""
    return wanted if _LOCAL.match(wanted) else ""
