"""Pull requests: opened, edited, and kept in step with the branches they come from."""

from dataclasses import dataclass, replace

from tests.fakes.github import bare
from tests.fakes.github.acts.threads import check_texts, next_number, set_open
from tests.fakes.github.comparison import count_commits
from tests.fakes.github.exchange import Json, RefusedError, invalid
from tests.fakes.github.state import Issue, Pull, Repo, World
from tests.fakes.github.webhooks.changes import PullChange
from tests.fakes.github.webhooks.outbox import announce
from tests.fakes.github.webhooks.pushes import tell_pushes


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A pull request that somebody wants to open.

    `head` is a branch, with `owner:` in front where it lies in a fork.
    """

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False
    maintainer_can_modify: bool = True


def find_head(world: World, repo: Repo, head: str) -> tuple[Repo, str] | None:
    """Return the repository of the same family, and the branch, that `head` names."""
    owner, colon, branch = head.rpartition(":")
    if not colon or owner.lower() == repo.owner.lower():
        return repo, branch
    root = (repo.parent or repo.full_name).lower()
    for other in world.repos.values():
        family = (other.parent or other.full_name).lower()
        if other.owner.lower() == owner.lower() and family == root:
            return other, branch
    return None


def open_pull(
    world: World,
    repo: Repo,
    proposal: Proposal,
    *,
    author: str,
    app_slug: str | None = None,
) -> Issue:
    """Open it, or raise a 422 with everything that is wrong with it."""
    check_texts("PullRequest", proposal.title, proposal.body)
    source, branch = _check(world, repo, proposal)
    now = world.clock.now()
    issue = Issue(
        id=world.next_id(),
        repo=repo.full_name,
        number=next_number(world, repo),
        author=world.user(author).login,
        title=proposal.title,
        body=proposal.body,
        created_at=now,
        updated_at=now,
        app_slug=app_slug,
        pull=Pull(
            id=world.next_id(),
            head_repo=source.full_name,
            head_branch=branch,
            base_branch=proposal.base,
            draft=proposal.draft,
            maintainer_can_modify=proposal.maintainer_can_modify and source != repo,
        ),
    )
    bare.fetch(repo.git, source.git, f"+refs/heads/{branch}:{issue.head_ref}")
    world.put_issue(issue)
    announce(world, PullChange("opened", issue, author))
    return issue


def merge(world: World, issue: Issue, *, actor: str) -> Issue:
    """Merge it, where its base can be moved forward to its head."""
    if issue.pull is None:
        raise LookupError(f"#{issue.number} is no pull request")
    repo = world.repo(issue.repo)
    base = f"refs/heads/{issue.pull.base_branch}"
    bare.git(repo.git, "update-ref", base, f"refs/heads/{issue.pull.head_branch}")
    pull = replace(issue.pull, merged_at=world.clock.now(), merged_by=actor)
    world.put_issue(replace(issue, pull=pull))
    return set_open(
        world, world.issue(issue.repo, issue.number), actor=actor, is_open=False
    )


def set_draft(world: World, issue: Issue, *, actor: str, draft: bool) -> Issue:
    """Mark it as a draft or as ready; GitHub has this in GraphQL alone."""
    if issue.pull is None or issue.pull.draft == draft:
        return issue
    pull = replace(issue.pull, draft=draft)
    changed = replace(issue, pull=pull, updated_at=world.clock.now())
    world.put_issue(changed)
    action = "converted_to_draft" if draft else "ready_for_review"
    announce(world, PullChange(action, changed, actor))
    return changed


def retarget(world: World, repo: Repo, issue: Issue, wanted: Json) -> Issue:
    """Change what only a pull request has: its base, and who may push to its head."""
    if issue.pull is None:
        return issue
    base = wanted.get("base", issue.pull.base_branch)
    if bare.find_commit(repo.git, f"refs/heads/{base}") is None:
        raise invalid("PullRequest", "invalid", field="base")
    wished = wanted.get("maintainer_can_modify", issue.pull.maintainer_can_modify)
    allowed = wished and issue.pull.head_repo != repo.full_name
    pull = replace(issue.pull, base_branch=base, maintainer_can_modify=allowed)
    return world.put_issue(replace(issue, pull=pull))


def follow_heads(world: World, repo: Repo, actor: str) -> None:
    """After a push to `repo`: tell, and move the open pull requests from there."""
    tell_pushes(world, repo, actor)
    for issue in list(world.issues.values()):
        if issue.is_open and issue.pull and issue.pull.head_repo == repo.full_name:
            _follow(world, repo, issue, issue.pull, actor)


def _follow(world: World, source: Repo, issue: Issue, pull: Pull, actor: str) -> None:
    target = world.repo(issue.repo)
    branch = f"refs/heads/{pull.head_branch}"
    tip = bare.find_commit(source.git, branch)
    before = bare.find_commit(target.git, issue.head_ref)
    if tip == before:
        return
    if tip is None:
        set_open(world, issue, actor=actor, is_open=False)
        return
    bare.fetch(target.git, source.git, f"+{branch}:{issue.head_ref}")
    moved = world.put_issue(replace(issue, updated_at=world.clock.now()))
    change = PullChange("synchronize", moved, actor, before_sha=before, after_sha=tip)
    announce(world, change)


def _check(world: World, repo: Repo, proposal: Proposal) -> tuple[Repo, str]:
    found = find_head(world, repo, proposal.head)
    head = found and bare.find_commit(found[0].git, f"refs/heads/{found[1]}")
    base = bare.find_commit(repo.git, f"refs/heads/{proposal.base}")
    missing = [name for name, sha in (("head", head), ("base", base)) if not sha]
    if found is None or head is None or base is None:
        errors = [_complaint(name) for name in missing]
        raise RefusedError(422, "Validation Failed", errors)
    source, branch = found
    label = f"{source.owner}:{branch}"
    if _is_open(world, repo, source, branch, proposal.base):
        problem = f"A pull request already exists for {label}."
        raise invalid("PullRequest", "custom", message=problem)
    if _is_merged(repo, source, base, branch):
        problem = f"No commits between {proposal.base} and {proposal.head}"
        raise invalid("PullRequest", "custom", message=problem)
    return found


def _complaint(name: str) -> Json:
    return {"resource": "PullRequest", "field": name, "code": "invalid"}


def _is_open(world: World, repo: Repo, source: Repo, branch: str, base: str) -> bool:
    wanted = (source.full_name, branch, base)
    return any(
        issue.pull is not None
        and issue.is_open
        and wanted
        == (issue.pull.head_repo, issue.pull.head_branch, issue.pull.base_branch)
        for issue in world.issues_of(repo.full_name)
    )


def _is_merged(repo: Repo, source: Repo, base: str, branch: str) -> bool:
    """Ask in the head's repository, after making sure that it has the base's commit."""
    if source != repo:
        bare.fetch(source.git, repo.git, base)
    return count_commits(source.git, base, f"refs/heads/{branch}") == 0
