"""Issues and what people write under them; pull requests are issues too."""

from dataclasses import replace

from tests.fakes.github.exchange import invalid
from tests.fakes.github.state import Comment, Issue, Reaction, Repo, Subject, World
from tests.fakes.github.webhooks.changes import CommentChange, IssueChange, LabelChange
from tests.fakes.github.webhooks.outbox import announce

MAX_TEXT = 65_536
REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def next_number(world: World, repo: Repo) -> int:
    """Count on; issues, pull requests and discussions share their numbers."""
    taken = [issue.number for issue in world.issues_of(repo.full_name)]
    taken += [
        one.number for one in world.discussions.values() if one.repo == repo.full_name
    ]
    return 1 + max(taken, default=0)


def check_texts(resource: str, title: str, body: str | None) -> None:
    """Raise a 422 for a title or body that GitHub would not keep."""
    if not title.strip():
        raise invalid(resource, "missing_field", field="title")
    if len(title) > 256:
        problem = "title is too long (maximum is 256 characters)"
        raise invalid(resource, "custom", field="title", message=problem)
    if body is not None and len(body) > MAX_TEXT:
        problem = f"body is too long (maximum is {MAX_TEXT} characters)"
        raise invalid(resource, "custom", field="body", message=problem)


def open_issue(
    world: World,
    repo: Repo,
    *,
    author: str,
    title: str,
    body: str | None,
    app_slug: str | None = None,
) -> Issue:
    check_texts("Issue", title, body)
    now = world.clock.now()
    issue = world.put_issue(
        Issue(
            id=world.next_id(),
            repo=repo.full_name,
            number=next_number(world, repo),
            author=world.user(author).login,
            title=title,
            body=body,
            created_at=now,
            updated_at=now,
            app_slug=app_slug,
        )
    )
    announce(world, IssueChange("opened", issue, author))
    return issue


def edit_issue(
    world: World,
    issue: Issue,
    *,
    actor: str,
    title: str | None = None,
    body: str | None = None,
) -> Issue:
    """Change title or body; None leaves what is there."""
    edited = replace(
        issue,
        title=issue.title if title is None else title,
        body=issue.body if body is None else body,
        updated_at=world.clock.now(),
    )
    check_texts("Issue", edited.title, edited.body)
    if edited.body != issue.body:
        edited = replace(edited, edited_at=edited.updated_at)
    world.put_issue(edited)
    if (edited.title, edited.body) != (issue.title, issue.body):
        announce(world, IssueChange("edited", edited, actor, before=issue))
    return edited


def set_open(world: World, issue: Issue, *, actor: str, is_open: bool) -> Issue:
    """Close or reopen; asking for what already holds changes nothing."""
    if issue.is_open == is_open:
        return issue
    now = world.clock.now()
    closed_at = None if is_open else now
    changed = world.put_issue(replace(issue, closed_at=closed_at, updated_at=now))
    action = "reopened" if is_open else "closed"
    announce(world, IssueChange(action, changed, actor))
    return changed


def add_label(world: World, issue: Issue, label: str, *, actor: str) -> Issue:
    if label in issue.labels:
        return issue
    # One that the repository does not have is made, in grey.
    world.labels.setdefault((issue.repo.lower(), label.lower()), "ededed")
    labels = (*issue.labels, label)
    labelled = replace(issue, labels=labels, updated_at=world.clock.now())
    world.put_issue(labelled)
    announce(world, LabelChange("labeled", labelled, actor, label))
    return labelled


def remove_label(world: World, issue: Issue, label: str, *, actor: str) -> Issue:
    labels = tuple(name for name in issue.labels if name != label)
    changed = replace(issue, labels=labels, updated_at=world.clock.now())
    world.put_issue(changed)
    announce(world, LabelChange("unlabeled", changed, actor, label))
    return changed


def comment(
    world: World,
    issue: Issue,
    *,
    author: str,
    body: str,
    app_slug: str | None = None,
) -> Comment:
    _check_comment(body)
    now = world.clock.now()
    written = Comment(
        id=world.next_id(),
        repo=issue.repo,
        number=issue.number,
        author=world.user(author).login,
        body=body,
        created_at=now,
        updated_at=now,
        app_slug=app_slug,
    )
    world.comments[written.id] = written
    world.put_issue(replace(issue, updated_at=now))
    announce(world, CommentChange("created", written, author))
    return written


def edit_comment(world: World, old: Comment, *, actor: str, body: str) -> Comment:
    _check_comment(body)
    edited = replace(old, body=body, updated_at=world.clock.now())
    world.comments[old.id] = edited
    if body != old.body:
        announce(world, CommentChange("edited", edited, actor, before=old))
    return edited


def delete_comment(world: World, old: Comment, *, actor: str) -> None:
    announce(world, CommentChange("deleted", old, actor))
    del world.comments[old.id]


def react(
    world: World, subject: Subject, *, author: str, content: str
) -> tuple[Reaction, bool]:
    """Return the reaction, and whether it is new: each person gives each kind once."""
    if content not in REACTIONS:
        raise invalid("Reaction", "invalid", field="content")
    for given in world.reactions_on(subject):
        if given.author == author and given.content == content:
            return given, False
    reaction = Reaction(
        id=world.next_id(),
        subject=subject,
        author=author,
        content=content,
        created_at=world.clock.now(),
    )
    world.reactions[reaction.id] = reaction
    return reaction, True


def _check_comment(body: str) -> None:
    problem = None
    if not body.strip():
        problem = "Body cannot be blank"
    if len(body) > MAX_TEXT:
        problem = f"Body is too long (maximum is {MAX_TEXT} characters)"
    if problem is not None:
        raise invalid("IssueComment", "unprocessable", field="data", message=problem)
