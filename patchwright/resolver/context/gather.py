"""Gather the context of a request: what its thread shows, mentions and changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from patchwright.core.channel import Channel
from patchwright.core.forge import Checks, Forge
from patchwright.core.llm.model import Image
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    PullRequest,
    Repository,
    Thread,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.context.context import Context, PullDiff
from patchwright.resolver.context.images import fetch_images, find_images
from patchwright.resolver.context.linked_threads import (
    LinkReader,
    quote_linked_threads,
    quote_related_issues,
)
from patchwright.resolver.context.links import (
    MAX_LINKS,
    CodeLink,
    TextLink,
    agreed_branches,
    find_links,
)

# Beyond this the files are listed alone; the agent has them in its checkout.
MAX_CHANGED_BYTES: Final = 20_000_000

_CHANGE_WORDS: Final = {
    ChangeKind.ADDED: "added",
    ChangeKind.MODIFIED: "modified",
    ChangeKind.DELETED: "deleted",
    ChangeKind.RENAMED: "renamed",
    ChangeKind.COPIED: "copied",
    ChangeKind.RETYPED: "changed type of",
}


def read_changes(
    code: ObjectStore, pull: PullRequest, base_sha: str, head_sha: str
) -> PullDiff:
    """Compare the head with the commit where it left the base, as the forge does.

    Without such a commit it is compared with the base itself. Raises `GitError`.
    """
    merge_base = code.merge_base(base_sha, head_sha) or base_sha
    changed = code.changed_paths(merge_base, head_sha)
    is_small = sum(sum(path.sizes) for path in changed) <= MAX_CHANGED_BYTES
    patch = code.diff(merge_base, head_sha) if is_small else b""
    return PullDiff(
        base_branch=pull.base_branch,
        head_branch=pull.head_branch,
        merge_base=merge_base,
        paths=tuple(map(_path_line, changed)),
        text=patch.decode("utf-8", "replace"),
    )


def _path_line(path: ChangedPath) -> str:
    moved = f"{_printable(path.old_path)} to " if path.old_path else ""
    return f"{_CHANGE_WORDS[path.kind]} {moved}{path.shown}"


def _printable(path: str) -> str:
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")


# Older comments are read, but what they show or mention is not fetched.
NEWEST = 10
MAX_BRANCH_NAMES = 5


@dataclass(frozen=True)
class RequestContext:
    """Where a request was made: `thread` as it was then, in `repository`.

    `tied` are the other threads of its conversation.
    """

    channel: Channel
    forge: Forge
    repository: Repository
    thread: Thread
    trigger: Trigger
    asked_at: datetime
    tied: tuple[Thread, ...] = ()


@dataclass(frozen=True)
class StartingPoint:
    """What the work starts from; `base_sha` is where its base branch stands."""

    code: ObjectStore
    base_branch: str
    base_sha: str
    start_sha: str
    pull: PullRequest | None = None


class GatheredContext(Value):
    """The context, and its pictures by name.

    `private_texts` were read in private repositories, for work in a public one.
    """

    context: Context
    images: dict[str, Image] = {}
    private_texts: tuple[str, ...] = ()


def gather_context(
    request: RequestContext, work: StartingPoint, checks: Checks | None = None
) -> GatheredContext:
    """Read all that belongs to the request; what cannot be read is named in it.

    Raises `GitError`.
    """
    thread, posts = request.thread, _posts_to_read(request.thread, request.trigger)
    shown = fetch_images(request.channel, thread.ref, find_images(posts))
    links = find_links(posts, thread.ref, request.repository)
    is_pull = work.pull is not None and thread.ref.kind.is_pull
    pull = work.pull if is_pull else None
    branch = suggest_base(request)
    context = Context(
        thread=thread,
        pull=pull,
        diff=read_changes(work.code, pull, work.base_sha, work.start_sha)
        if pull
        else None,
        checks=checks,
        mentioned=(
            *quote_related_issues(thread),
            *quote_linked_threads(request.tied),
            *_link_reader(request).read(_links_to_read(links)),
        ),
        pictures=shown.pictures,
        other_branch="" if branch == work.base_branch else branch,
        notes=_base_note(branch) if branch == work.base_branch else (),
    )
    texts = () if request.repository.private else _private_texts(context)
    return GatheredContext(context=context, images=shown.images, private_texts=texts)


def _private_texts(context: Context) -> tuple[str, ...]:
    private = (one for one in context.mentioned if one.is_private)
    return tuple(quote.text for one in private for quote in one.quotes)


def suggest_base(request: RequestContext) -> str:
    """Return the branch that the thread's links to code agree on, if there is one.

    Only the words that opened the thread and those that asked count, and only a branch
    that is there.
    """
    thread, trigger = request.thread, request.trigger
    asking = [post for post in thread.posts if post.id == trigger.post_id]
    posts = (thread.posts[0], *asking)
    links = find_links(posts, thread.ref, request.repository)
    return _existing_branch(request, links)


def _base_note(branch: str) -> tuple[str, ...]:
    shown = inline_code(branch)
    return (f"The links to code in the thread lead to {shown}, so the work is on it.",)


def _existing_branch(request: RequestContext, links: Sequence[TextLink]) -> str:
    """Return the agreed branch that exists: the longest, should there be several."""
    repo = request.repository
    names = agreed_branches(links, repo.ref)[:MAX_BRANCH_NAMES]
    if not names or repo.default_branch in names:
        return ""
    there = (
        name for name in reversed(names) if request.forge.has_branch(repo.ref, name)
    )
    return next(there, "")


def _posts_to_read(thread: Thread, trigger: Trigger) -> list[ThreadPost]:
    """Return what asked, the opening text and the newest posts, the newest first."""
    opening, *comments = thread.posts
    reviewed = [post for review in thread.reviews for post in review.posts]
    asking = [p for p in (*comments, *reviewed) if p.id == trigger.post_id]
    newest = [post for post in comments[::-1] if post not in asking][:NEWEST]
    return [*asking, opening, *newest]


def _links_to_read(links: Sequence[TextLink]) -> list[TextLink]:
    """Leave out links to a branch: the agent has the code, and a hint at the branch."""
    read = [
        link
        for link in links
        if not isinstance(link.target, CodeLink) or link.target.sha
    ]
    return read[:MAX_LINKS]


def _link_reader(request: RequestContext) -> LinkReader:
    requester: Actor = request.trigger.asker
    return LinkReader(
        request.channel,
        request.forge,
        home=request.repository.ref,
        home_is_private=request.repository.private,
        requester=requester,
        accounts=(requester, request.trigger.actor),
        asked_at=request.asked_at,
    )
