"""Fetch what a run needs before it can start: thread, repository, commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from patchwright.core.knowledge.knowledge import Knowledge
from patchwright.core.text.names import branch_name
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
    Thread,
    ThreadKind,
)
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Task
from patchwright.integrations.git.mirror import Mirror, Mirrors
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.brief import as_asked, brief
from patchwright.resolver.knowledge import gather
from patchwright.resolver.target import Target, plan_target


@dataclass(frozen=True)
class Prepared:
    """Everything that is looked up, and the task made of it.

    `trusted_sha` is where the branch stands that the change is meant for: what that
    commit says for agents counts, whatever a pull request says.
    """

    repository: Repository
    target: Target
    mirror: Mirror
    trusted_sha: str
    task: Task


def fetch_thread(github: GitHub, trigger: Trigger, asked_at: datetime) -> Thread:
    """Read the thread as it was when the request was made."""
    return as_asked(github.channel.fetch_thread(trigger.thread), trigger, asked_at)


def prepare(
    github: GitHub,
    mirrors: Mirrors,
    trigger: Trigger,
    thread: Thread,
    linked_pulls: Sequence[int] = (),
) -> Prepared:
    """Look everything up; raises a `ServiceError` or a `GitError`.

    `linked_pulls` are the numbers of pull requests that earlier runs for this thread
    have opened.
    """
    repository = github.forge.fetch_repository(trigger.thread.repo)
    title = trigger.title or thread.title
    pull = _find_pull(github, thread, title, linked_pulls)
    target = plan_target(trigger.thread, title, repository, pull)
    mirror = fetch_mirror(
        github, mirrors, repository, target.start_ref, target.trusted_ref
    )
    trusted_sha = mirror.resolve(target.trusted_ref)
    return Prepared(
        repository=repository,
        target=target,
        mirror=mirror,
        trusted_sha=trusted_sha,
        task=_task(
            thread,
            trigger,
            target,
            gather(mirror.objects, trusted_sha),
            base_sha=mirror.resolve(target.start_ref),
            noreply_domain=_noreply_domain(repository),
        ),
    )


def fetch_mirror(
    github: GitHub, mirrors: Mirrors, repository: Repository, *refs: str
) -> Mirror:
    credential = github.forge.mint_credential(repository.ref)
    return mirrors.fetch(repository.clone_url, credential, list(dict.fromkeys(refs)))


def _find_pull(
    github: GitHub, thread: Thread, title: str, linked: Sequence[int]
) -> PullRequest | None:
    """Return the thread's own pull request, or the open one we made for the issue."""
    repo: RepoRef = thread.ref.repo
    if thread.ref.kind is ThreadKind.PULL_REQUEST:
        return github.forge.fetch_pull_request(repo, thread.ref.number)
    earlier = [github.forge.fetch_pull_request(repo, number) for number in linked]
    # The title may have been another one then.
    branches = [pull.head_branch for pull in earlier if pull.same_repository]
    found = (
        github.forge.find_pull_request(repo, branch)
        for branch in (*branches, branch_name(thread.ref.number, title))
    )
    return next((pull for pull in found if pull is not None), None)


def _noreply_domain(repository: Repository) -> str:
    """Return the mail domain that stands for accounts of the forge."""
    return f"users.noreply.{urlsplit(repository.web_url).hostname}"


def _task(
    thread: Thread,
    trigger: Trigger,
    target: Target,
    knowledge: Knowledge,
    *,
    base_sha: str,
    noreply_domain: str,
) -> Task:
    written = brief(thread, trigger, target.base_branch)
    guide = knowledge.for_prompt(written.text)
    requester = trigger.actor
    address = f"{requester.external_id}+{requester.login}".lstrip("+")
    signed = f"{requester.login} <{address}@{noreply_domain}>"
    return Task(
        text="\n\n".join(part for part in (guide, written.text) if part),
        base_sha=base_sha,
        base_branch=target.base_branch,
        title=thread.title,
        files=written.files,
        notes=(
            *written.notes,
            *knowledge.notes,
            *([target.note] if target.note else []),
        ),
        message_trailer=f"Co-authored-by: {signed}",
    )
