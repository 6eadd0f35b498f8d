"""Name the tools of servers as every provider of models accepts it."""

import re
from hashlib import sha256
from typing import Final

# https://platform.openai.com/docs/api-reference/chat/create and the others agree.
_MAX_NAME: Final = 64
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_CHARS: Final = 8


def tool_name(server: str, tool: str) -> str:
    """Return `SERVER__TOOL`; where that is no name, a likeness of it with a digest.

    It depends on nothing else, so that a run that is taken up again finds its tools.
    """
    plain = f"{server}__{tool}"
    fit = _UNFIT.sub("_", plain)
    if fit == plain and len(fit) <= _MAX_NAME:
        return fit
    digest = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{fit[: _MAX_NAME - _DIGEST_CHARS - 1]}_{digest}"
