"""What people do in a GitLab, and what they see there, as methods for tests."""

from collections.abc import Sequence

from tests.fakes.gitlab.acts import builds, merges, moves, notes, threads
from tests.fakes.gitlab.acts.builds import Report
from tests.fakes.gitlab.acts.merges import Proposal, Remark
from tests.fakes.gitlab.build_state import Pipeline
from tests.fakes.gitlab.seen import MergeRequestSeen, merge_request_seen
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Award, Note, Thread, ThreadKind

ISSUE = ThreadKind.ISSUE
MERGE_REQUEST = ThreadKind.MERGE_REQUEST


class People:
    """Takes the same way as what programs do through the API, webhooks and all.

    A thread is an issue unless `kind` says otherwise.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    def open_issue(
        self,
        path: str,
        author: str,
        title: str,
        body: str,
        *,
        confidential: bool = False,
        labels: Sequence[str] = (),
    ) -> int:
        with self.world.lock:
            draft = threads.Draft(
                title=title,
                description=body,
                confidential=confidential,
                labels=tuple(labels),
            )
            project = self.world.project(path)
            who = self.world.user(author).id
            return threads.open_issue(self.world, project, who, draft).iid

    def open_merge_request(self, path: str, author: str, proposal: Proposal) -> int:
        with self.world.lock:
            project = self.world.project(path)
            who = self.world.user(author).id
            return merges.open_merge(self.world, project, proposal, who).iid

    def edit(
        self,
        path: str,
        number: int,
        actor: str,
        *,
        kind: ThreadKind = ISSUE,
        title: str | None = None,
        body: str | None = None,
    ) -> None:
        """Change title or description; None leaves what is there."""
        changes = {"title": title, "description": body}
        self._change(
            path,
            number,
            actor,
            kind,
            **{name: value for name, value in changes.items() if value is not None},
        )

    def close(
        self, path: str, number: int, actor: str, kind: ThreadKind = ISSUE
    ) -> None:
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            threads.close(self.world, thread, self.world.user(actor).id)

    def reopen(
        self, path: str, number: int, actor: str, kind: ThreadKind = ISSUE
    ) -> None:
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            threads.reopen(self.world, thread, self.world.user(actor).id)

    def label(
        self, path: str, number: int, label: str, actor: str, kind: ThreadKind = ISSUE
    ) -> None:
        with self.world.lock:
            labels = (*self.world.thread(path, kind, number).labels, label)
            self._change(path, number, actor, kind, labels=labels)

    def unlabel(
        self, path: str, number: int, label: str, actor: str, kind: ThreadKind = ISSUE
    ) -> None:
        with self.world.lock:
            before = self.world.thread(path, kind, number).labels
            labels = tuple(one for one in before if one != label)
            self._change(path, number, actor, kind, labels=labels)

    def assign(
        self,
        path: str,
        number: int,
        people: Sequence[str],
        actor: str,
        kind: ThreadKind = ISSUE,
    ) -> None:
        """Assign these people, and nobody else."""
        numbers = tuple(self.world.user(one).id for one in people)
        self._change(path, number, actor, kind, assignees=numbers)

    def request_review(
        self, path: str, number: int, people: Sequence[str], actor: str
    ) -> None:
        """Ask these people for a review, and nobody else."""
        with self.world.lock:
            thread = self.world.thread(path, MERGE_REQUEST, number)
            who = self.world.user(actor).id
            reviewers = tuple(self.world.user(one).id for one in people)
            merges.change_merge(self.world, thread, who, reviewers=reviewers)

    def move_issue(self, path: str, number: int, target: str, actor: str) -> int:
        """Move it to another project and return its number there."""
        with self.world.lock:
            issue = self.world.thread(path, ISSUE, number)
            there = self.world.project(target)
            who = self.world.user(actor).id
            return moves.move_issue(self.world, issue, there, who).iid

    def lock(
        self, path: str, number: int, actor: str, kind: ThreadKind = ISSUE
    ) -> None:
        """Leave the discussion to members."""
        self._change(path, number, actor, kind, locked=True)

    def make_confidential(self, path: str, number: int, actor: str) -> None:
        self._change(path, number, actor, ISSUE, confidential=True)

    def _change(
        self, path: str, number: int, actor: str, kind: ThreadKind, **changes: object
    ) -> None:
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            threads.change(self.world, thread, self.world.user(actor).id, **changes)

    def comment(
        self,
        path: str,
        number: int,
        author: str,
        body: str,
        *,
        kind: ThreadKind = ISSUE,
        internal: bool = False,
        discussion: str = "",
    ) -> int:
        """Write a note, also within a discussion, and return its number."""
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            who = self.world.user(author).id
            before = [
                one
                for one in self.world.notes_of(thread)
                if discussion and one.discussion == discussion
            ]
            words = notes.Words(
                body=body,
                internal=internal,
                discussion=discussion,
                type=before[0].type or "DiscussionNote" if before else None,
            )
            return notes.write_note(self.world, thread, who, words).id

    def edit_comment(self, note_id: int, actor: str, body: str) -> None:
        with self.world.lock:
            note = self.world.notes[note_id]
            notes.edit_note(self.world, note, self.world.user(actor).id, body)

    def delete_comment(self, note_id: int) -> None:
        with self.world.lock:
            notes.delete_note(self.world, self.world.notes[note_id])

    def review(
        self,
        path: str,
        number: int,
        author: str,
        *,
        body: str = "",
        remarks: Sequence[Remark] = (),
        state: str = "reviewed",
    ) -> list[int]:
        """Submit a review at once; return the numbers of its notes."""
        with self.world.lock:
            thread = self.world.thread(path, MERGE_REQUEST, number)
            who = self.world.user(author).id
            made = merges.submit_review(
                self.world, thread, who, body=body, remarks=remarks, state=state
            )
            return [one.id for one in made]

    def approve(self, path: str, number: int, actor: str) -> None:
        with self.world.lock:
            thread = self.world.thread(path, MERGE_REQUEST, number)
            merges.approve(self.world, thread, self.world.user(actor).id)

    def merge(self, path: str, number: int, actor: str) -> None:
        with self.world.lock:
            thread = self.world.thread(path, MERGE_REQUEST, number)
            merges.merge(self.world, thread, self.world.user(actor).id)

    def award(
        self,
        path: str,
        number: int,
        actor: str,
        name: str,
        *,
        kind: ThreadKind = ISSUE,
        note: int | None = None,
    ) -> None:
        """Give an emoji to a thread or to a note of it."""
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            who = self.world.user(actor).id
            what = (thread.id, kind.value) if note is None else (note, "Note")
            notes.award(self.world, *what, who, name)

    def run_pipeline(
        self, path: str, branch: str, reports: Sequence[Report], actor: str
    ) -> Pipeline:
        """Run a pipeline for where a branch stands, and tell how it ended."""
        with self.world.lock:
            project = self.world.project(path)
            who = self.world.user(actor).id
            return builds.run_pipeline(self.world, project, branch, [*reports], who)

    def ponder(self, path: str, number: int, *, times: int) -> None:
        """Let GitLab not know yet whether it merges, for so many looks at it."""
        with self.world.lock:
            thread = self.world.thread(path, MERGE_REQUEST, number)
            self.world.pondered[thread.id] = times

    def thread(self, path: str, number: int, kind: ThreadKind = ISSUE) -> Thread:
        with self.world.lock:
            return self.world.thread(path, kind, number)

    def comments(self, path: str, number: int, kind: ThreadKind = ISSUE) -> list[Note]:
        """Return what people and programs have written, oldest first."""
        with self.world.lock:
            found = self.world.notes_of(self.world.thread(path, kind, number))
            return [one for one in found if not one.system]

    def author_of(self, made: Note | Award | Thread) -> str:
        """Return the name of who wrote a text or gave an emoji."""
        number = made.user if isinstance(made, Award) else made.author
        return self.world.users[number].username

    def reactions(
        self,
        path: str,
        number: int,
        note: int | None = None,
        kind: ThreadKind = ISSUE,
    ) -> list[Award]:
        """Return the emoji on a note, or on the thread's own text."""
        with self.world.lock:
            thread = self.world.thread(path, kind, number)
            return self.world.awards_on(note or thread.id)

    def merge_requests(self, path: str) -> list[MergeRequestSeen]:
        """Return all of them, open or not, oldest first."""
        with self.world.lock:
            project = self.world.project(path)
            found = self.world.threads_of(project.id, MERGE_REQUEST)
            return [merge_request_seen(self.world, one) for one in found]
