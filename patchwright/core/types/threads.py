"""Where people talk and where code lives."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission


class RepoRef(Value):
    """A repository on a forge; `full_name` is `owner/name`."""

    forge: str
    full_name: str

    def __str__(self) -> str:
        return f"{self.forge}:{self.full_name}"


class ThreadKind(StrEnum):
    ISSUE = "issue"
    PULL_REQUEST = "pull-request"
    # A pull request of a forge that counts them apart from its issues.
    MERGE_REQUEST = "merge-request"
    DISCUSSION = "discussion"
    REQUEST = "request"
    CHAT = "chat"
    TICKET = "ticket"

    @property
    def is_pull(self) -> bool:
        return self in {ThreadKind.PULL_REQUEST, ThreadKind.MERGE_REQUEST}

    @property
    def mark(self) -> str:
        """What stands before the number in its key; people write it too."""
        return _MARKS[self]

    @property
    def words(self) -> str:
        """What people call it."""
        return _WORDS[self]


# The number of a request is none of the forge's.
_MARKS: Final = {
    ThreadKind.ISSUE: "#",
    ThreadKind.PULL_REQUEST: "#",
    ThreadKind.MERGE_REQUEST: "!",
    ThreadKind.DISCUSSION: "#",
    ThreadKind.REQUEST: "~",
    ThreadKind.CHAT: "#",
    ThreadKind.TICKET: "#",
}
_WORDS: Final = {
    ThreadKind.ISSUE: "issue",
    ThreadKind.PULL_REQUEST: "pull request",
    ThreadKind.MERGE_REQUEST: "merge request",
    ThreadKind.DISCUSSION: "discussion",
    ThreadKind.REQUEST: "request",
    ThreadKind.CHAT: "thread",
    ThreadKind.TICKET: "ticket",
}


# What people call a thread that is known to us alone.
OWN_REQUEST: Final = "the request"


class ForgeThread(Value):
    """A thread beside the code; `str()` of it is its key.

    A request is known to us alone: it came without a thread, from a form or a workflow,
    and its `number` is our own. `audience` names, in the service's own way, who may
    read what is written in answer, where that is not everybody who sees the repository;
    two threads with the same key are equal.
    """

    repo: RepoRef
    kind: ThreadKind
    number: int
    audience: str = ""

    def __str__(self) -> str:
        return f"{self.repo}{self.kind.mark}{self.number}"

    def __eq__(self, other: object) -> bool:
        same_kind = isinstance(other, ForgeThread) and other.kind is self.kind
        return same_kind and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def service(self) -> str:
        return self.repo.forge

    @property
    def place(self) -> str:
        """Where people agree on something for all of its threads."""
        return self.repo.full_name

    @property
    def is_private(self) -> bool:
        """Whether fewer people may read it than the repository."""
        return bool(self.audience)

    @property
    def is_own(self) -> bool:
        """Whether the forge does not know it."""
        return self.kind is ThreadKind.REQUEST

    @property
    def name(self) -> str:
        """What people call it where it is."""
        return OWN_REQUEST if self.is_own else f"{self.kind.mark}{self.number}"

    @property
    def token(self) -> str:
        """What tells its branches from others."""
        prefix = _TOKEN_PREFIXES.get(self.kind.mark, "")
        return f"{prefix}{self.number}"


# Those that are counted apart from issues.
_TOKEN_PREFIXES: Final = {
    ThreadKind.REQUEST.mark: "r",
    ThreadKind.MERGE_REQUEST.mark: "mr",
}


# Begins the id of a thread that is yet to be opened.
NOT_STARTED: Final = "cmd-"


class TalkThread(Value):
    """A thread of a service where no code lives; `str()` of it is its key.

    `place` is where people agree on a repository: `TEAM/CHANNEL` in Slack, `HOST/KEY`
    of a project in Jira. `id` is the thread's own there: the time stamp of its first
    message, the key of a ticket. `lasting_id` is there where `id` may change, as a
    ticket's key does when it is moved. `audience` names, in the service's own way, who
    may read what is written in answer; empty: all that may read the thread.

    Neither tells one thread from another: two with the same key are equal.
    """

    service: str
    place: str
    kind: ThreadKind
    id: str
    lasting_id: str = ""
    audience: str = ""

    def __str__(self) -> str:
        return f"{self.service}:{self.place}#{self.id}"

    def __eq__(self, other: object) -> bool:
        same_kind = isinstance(other, TalkThread) and other.kind is self.kind
        return same_kind and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def lasting_key(self) -> str:
        """Return a key that stays when the thread is moved, empty if there is none."""
        site = self.place.rpartition("/")[0]
        return f"{self.service}:{site}#{self.lasting_id}" if self.lasting_id else ""

    @property
    def is_private(self) -> bool:
        """Whether other people may read it than the repository: always."""
        return True

    @property
    def has_begun(self) -> bool:
        """Whether there is a message yet; a command or a form comes without one."""
        return not self.id.startswith(NOT_STARTED)

    @property
    def name(self) -> str:
        """What people call it where it is."""
        return self.id if self.kind is ThreadKind.TICKET else "the thread"

    @property
    def token(self) -> str:
        """What tells its branches from others.

        Of a time stamp that is all of it: people ask twice within a second.
        """
        return self.id.replace(".", "-")


# A place we can answer in.
ThreadRef = ForgeThread | TalkThread


def listed_name(thread: ThreadRef) -> str:
    """Name the thread in a list, without the repository that it is beside.

    Of a chat that is its channel, by the service's own id: nothing else is stored.
    """
    if isinstance(thread, TalkThread) and thread.kind is ThreadKind.CHAT:
        return f"#{thread.place.rpartition('/')[2]}"
    return thread.name


def read_thread(key: str, kind: ThreadKind) -> ThreadRef:
    """Return the thread whose key that is."""
    service, _, rest = key.partition(":")
    place, _, token = rest.rpartition(kind.mark)
    if kind in (ThreadKind.CHAT, ThreadKind.TICKET):
        return TalkThread(service=service, place=place, kind=kind, id=token)
    repo = RepoRef(forge=service, full_name=place)
    return ForgeThread(repo=repo, kind=kind, number=int(token))


class ThreadPost(Value):
    """One text in a thread: its opening body, a comment, the words of a review.

    `edited_at` is when its text was last changed, None if it never was. `label` says
    what it is where that is no plain comment, such as `review, changes requested`.
    `role` is what the service says of the author in this place, such as `member`.
    `review_id` is the review that it was submitted with, if it was.
    """

    id: str
    author: Actor
    text: str
    at: datetime
    edited_at: datetime | None = None
    label: str = ""
    role: str = ""
    review_id: str = ""


class DiffSide(StrEnum):
    """Which of the two versions a line of a diff is counted in."""

    OLD = "old"
    NEW = "new"


class ReviewThread(Value):
    """What people say about lines of a pull request, oldest post first.

    `id` is the service's own name of the thread, for answering it. `line` is the last
    of the lines, None where it is about the whole file; `first_line` is there for
    several lines. `hunk` ends with the last line, and is the code as it was when the
    thread began. Outdated means that those lines have changed since; then the numbers
    are those of that time.
    """

    id: str = ""
    path: str
    line: int | None
    first_line: int | None = None
    side: DiffSide = DiffSide.NEW
    hunk: str = ""
    is_resolved: bool = False
    is_outdated: bool = False
    posts: tuple[ThreadPost, ...]


class LinkedIssue(Value):
    """Another thread that this one is tied to by its service, such as an epic."""

    name: str
    relation: str
    title: str
    text: str = ""
    author: Actor | None = None


class Thread(Value):
    """A thread as it was read at one moment, oldest post first.

    The first post is the body of the issue or pull request (its text may be empty).
    In a discussion, replies come after what they reply to. Only pull requests have
    reviews, and only tickets linked issues. `unread` counts the oldest comments, where
    there were too many to read. `has_moved` says that it was moved here, with its
    comments, from another repository. Every text is Markdown.
    """

    ref: ThreadRef
    title: str
    url: str
    posts: tuple[ThreadPost, ...]
    reviews: tuple[ReviewThread, ...] = ()
    linked_issues: tuple[LinkedIssue, ...] = ()
    unread: int = 0
    has_moved: bool = False


# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
# A login of a managed user ends with an underscore and the enterprise's short code.
# https://docs.github.com/en/enterprise-cloud@latest/admin/concepts/identity-and-access-management/enterprise-managed-users
_OWNER: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
# A full stop at the end belongs to the sentence, not to the name.
NAME_PATTERN: Final = r"(?!\.{1,2}(?![\w.-]))[A-Za-z0-9_.-]{0,99}[A-Za-z0-9_-]"
# A group may be in another group.
# https://docs.gitlab.com/user/reserved_names/
_GROUP: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9_-])?"
# A hyphen alone ends the name in an address.
_IN_GROUP: Final = rf"/(?!-(?![\w.-])){NAME_PATTERN}"


def name_pattern(*, has_groups: bool) -> str:
    """Return a regular expression for `owner/name`, or for a longer path of groups."""
    if has_groups:
        return rf"{_GROUP}(?:{_IN_GROUP}){{1,20}}"
    return f"{_OWNER}/{NAME_PATTERN}"


class ForgeForms(Value):
    """How a forge writes the names and addresses of repositories and threads.

    With `has_groups` a repository's full name may have more than two parts.
    `pages_path` comes between the address of a repository and those of its pages, and
    `thread_paths` before the number of a thread, the usual one of each kind first.
    `pull_kind` is how the forge calls what proposes a change, `pull_ref` where git has
    its head, and `new_pull_path` the page where a person makes one of a branch.
    `mail_name` is how an email address begins that hides a person's own, and
    `access_words` what people call a permission, where it is not its own name. With
    `moved_are_new` an issue that is moved to another repository is told as a new one.
    """

    has_groups: bool = False
    pages_path: str = ""
    thread_paths: Mapping[str, ThreadKind] = {
        "issues": ThreadKind.ISSUE,
        "pull": ThreadKind.PULL_REQUEST,
        "discussions": ThreadKind.DISCUSSION,
    }
    pull_kind: ThreadKind = ThreadKind.PULL_REQUEST
    pull_ref: str = "refs/pull/{number}/head"
    new_pull_path: str = "compare/{base}...{head}"
    mail_name: str = "{id}+{login}"
    access_words: Mapping[Permission, str] = {}
    moved_are_new: bool = False

    @property
    def counts_apart(self) -> bool:
        """Whether an issue and a pull request may have the same number."""
        return self.pull_kind.mark != ThreadKind.ISSUE.mark

    @property
    def marks(self) -> str:
        """What may stand before the number of a thread."""
        return f"#{self.pull_kind.mark}" if self.counts_apart else "#"

    def kind_of_mark(self, mark: str) -> ThreadKind:
        """Return the kind of a number with this mark: an issue, unless others differ.

        Where all are counted together, what is called an issue may be of another kind.
        """
        is_pull = self.counts_apart and mark == self.pull_kind.mark
        return self.pull_kind if is_pull else ThreadKind.ISSUE

    def pull(self, repo: RepoRef, number: int) -> ForgeThread:
        """Return the thread of a pull request."""
        return ForgeThread(repo=repo, kind=self.pull_kind, number=number)

    def access(self, permission: Permission) -> str:
        """Return what stands before the word access, in what people read."""
        if permission is Permission.NONE:
            return "no"
        return self.access_words.get(permission, permission.value)

    def head_ref(self, number: int) -> str:
        return self.pull_ref.format(number=number)

    def thread_path(self, thread: ForgeThread) -> str:
        """Return what follows the repository's address; empty where it has no page."""
        kinds = self.thread_paths.items()
        path = next((path for path, kind in kinds if kind is thread.kind), "")
        return f"{self.pages_path}{path}/{thread.number}" if path else ""


USUAL_FORMS: Final = ForgeForms()


class Repository(Value):
    """What the forge says about a repository; `id` is what it keeps in every move."""

    ref: RepoRef
    default_branch: str
    clone_url: str
    web_url: str
    private: bool
    id: str = ""
    forms: ForgeForms = USUAL_FORMS

    @property
    def pages_url(self) -> str:
        """The address that those of its commits, files and branches begin with."""
        return f"{self.web_url}/{self.forms.pages_path}".rstrip("/")

    @property
    def site_url(self) -> str:
        """The root of the forge's pages."""
        return self.web_url.removesuffix(f"/{self.ref.full_name}")


class PullRequest(Value):
    """A pull request as the forge shows it.

    `head_repo` is where its branch is, None when that was deleted.
    `maintainers_may_push` says that people who may write to the base may write to that
    branch too. `conflicts` is None while the forge still finds out. One that
    `is_merged` is not open any more.
    """

    number: int
    url: str
    head_branch: str
    base_branch: str
    head_sha: str
    draft: bool
    same_repository: bool
    head_repo: RepoRef | None = None
    maintainers_may_push: bool = False
    conflicts: bool | None = None
    is_open: bool = True
    is_merged: bool = False
    author: str = ""
    title: str = ""
    body: str = ""
    kind: ThreadKind = ThreadKind.PULL_REQUEST

    @property
    def name(self) -> str:
        """What people call it in its repository."""
        return f"{self.kind.mark}{self.number}"

    def thread(self, repo: RepoRef) -> ForgeThread:
        """Return its thread, in the repository that it is for."""
        return ForgeThread(repo=repo, kind=self.kind, number=self.number)
