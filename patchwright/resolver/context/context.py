"""The context of a request for the agent, as values."""

from patchwright.core.forge import Checks
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import PullRequest, Thread


class QuotedText(Value):
    """A text of somebody, and what it is; without an author git has it."""

    what: str
    text: str
    author: Actor | None = None
    role: str = ""


class LinkedItem(Value):
    """Something that a text refers to, by the `name` it has there.

    Without quotes it could not be read. What `is_private` stands in another repository
    that not everybody may read.
    """

    name: str
    quotes: tuple[QuotedText, ...] = ()
    is_private: bool = False


class ContextImage(Value):
    """A picture that a post shows.

    `name` is the file's in `/workspace/context/images`, empty where it could not be
    read; then `problem` says why.
    """

    url: str
    name: str = ""
    problem: str = ""


class PullDiff(Value):
    """What a pull request changes, against the commit where it left its base.

    `paths` are lines such as `modified a.py`; `text` is the patch, empty where it is
    too large to be made.
    """

    base_branch: str
    head_branch: str
    merge_base: str
    paths: tuple[str, ...] = ()
    text: str = ""


class Context(Value):
    """The thread as it was when the request was made, and what belongs to it.

    `pull` is the pull request that the thread is. `other_branch` is the branch that
    links to code in the thread agree on, where that is not the base of the work.
    """

    thread: Thread
    pull: PullRequest | None = None
    diff: PullDiff | None = None
    checks: Checks | None = None
    mentioned: tuple[LinkedItem, ...] = ()
    pictures: tuple[ContextImage, ...] = ()
    other_branch: str = ""
    notes: tuple[str, ...] = ()


class TaskSection(Value):
    """A part of the prompt; `files` are by name, for `/workspace/context`."""

    text: str = ""
    files: dict[str, str] = {}
