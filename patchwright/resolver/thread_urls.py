"""Read the address of an issue or pull request, as people copy it."""

import re
from typing import Final

from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind

_THREAD: Final = re.compile(
    r"/(?P<repo>[\w-]+/(?!\.\.?/)[\w.-]+)/(?P<kind>issues|pull)/(?P<number>\d{1,18})"
    # As copied from a tab of the page, or from one of its comments.
    r"(?:/[\w-]*)*(?:[?#].*)?"
)


def read_thread_url(
    url: str, web_url: str, forge: str = "github"
) -> ForgeThread | None:
    """Return the thread on that site, None for any other address.

    A credential goes there, so that the host must be the configured one.
    """
    found = _THREAD.fullmatch(url.removeprefix(web_url))
    if not url.startswith(f"{web_url}/") or found is None:
        return None
    kind = ThreadKind.ISSUE if found["kind"] == "issues" else ThreadKind.PULL_REQUEST
    repo = RepoRef(forge=forge, full_name=found["repo"])
    return ForgeThread(repo=repo, kind=kind, number=int(found["number"]))
