"""A forge and a ticket system that texts refer to, for tests of choosing."""

from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
)
from patchwright.resolver.repository_references import ReferenceScope, TrackerScope

WEB = "https://git.acme.dev"
PLACES = ReferenceScope(
    forge="github",
    web_url=WEB,
    known=("acme/web", "acme/api", "Other/Lib"),
    trackers=(
        TrackerScope(
            service="jira",
            url="https://acme.atlassian.net",
            host="acme.atlassian.net",
            projects=("APP", "OPS"),
        ),
    ),
)
SLACK = TalkThread(
    service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1712345678.123456"
)


def repo(full_name: str) -> RepoRef:
    return RepoRef(forge="github", full_name=full_name)


def issue(full_name: str, number: int) -> ForgeThread:
    return ForgeThread(repo=repo(full_name), kind=ThreadKind.ISSUE, number=number)


def ticket(key: str) -> TalkThread:
    project = key.partition("-")[0]
    return TalkThread(
        service="jira",
        place=f"acme.atlassian.net/{project}",
        kind=ThreadKind.TICKET,
        id=key,
    )
