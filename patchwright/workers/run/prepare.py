"""Fetch what a run needs before it can start: thread, repository, commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from patchwright.core.forge import Checks
from patchwright.core.llm.model import Image
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.names import branch_name, slug
from patchwright.core.text.templates import name_branch
from patchwright.core.types.threads import (
    PullRequest,
    RepoRef,
    Repository,
    Thread,
    ThreadKind,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Task
from patchwright.integrations.git.mirror import Mirror, Mirrors
from patchwright.integrations.github.adapter import GitHub
from patchwright.resolver.brief import brief
from patchwright.resolver.gathering.gather import (
    Gathered,
    Scene,
    Work,
    gather_context,
    suggest_base,
)
from patchwright.resolver.knowledge import gather
from patchwright.resolver.pinning import as_asked
from patchwright.resolver.planning import plan_first, wants_plan
from patchwright.resolver.reviews import ordered_threads
from patchwright.resolver.rounds import merge_text, needs_merge
from patchwright.resolver.target import Target, plan_target
from patchwright.resolver.template import find_template


@dataclass(frozen=True)
class Request:
    """What is asked, in which thread as it was then, and what is known about it.

    `linked_pulls` are the numbers of pull requests that earlier runs for this thread
    have opened. `label` is the one that has asked, if one did. `checks` are those of
    the pull request, where these were read already.
    """

    run_id: str
    trigger: Trigger
    thread: Thread
    asked_at: datetime
    config: RepositoryConfig
    linked_pulls: Sequence[int] = ()
    label: str = ""
    checks: Checks | None = None


@dataclass(frozen=True)
class Prepared:
    """Everything that is looked up, and the task made of it.

    `trusted_sha` is where the branch stands that the change is meant for: what that
    commit says for agents counts, whatever a pull request says. `names` are what the
    variables of the repository's templates stand for, `template` is its template for
    pull requests.
    """

    repository: Repository
    target: Target
    mirror: Mirror
    trusted_sha: str
    task: Task
    images: Mapping[str, Image]
    review_threads: tuple[str, ...]
    names: Mapping[str, str]
    template: str

    def with_notes(self, notes: tuple[str, ...]) -> "Prepared":
        """Return it with more to tell about, before what is there."""
        noted = {"notes": (*notes, *self.task.notes)}
        return replace(self, task=self.task.model_copy(update=noted))


def fetch_thread(github: GitHub, trigger: Trigger, asked_at: datetime) -> Thread:
    """Read the thread as it was when the request was made."""
    return as_asked(github.channel.fetch_thread(trigger.thread), trigger, asked_at)


def prepare(github: GitHub, mirrors: Mirrors, request: Request) -> Prepared:
    """Look everything up; raises a `ServiceError` or a `GitError`."""
    return _Preparation(github, mirrors, request).prepare()


def fetch_mirror(
    github: GitHub, mirrors: Mirrors, repository: Repository, *refs: str
) -> Mirror:
    credential = github.forge.mint_credential(repository.ref)
    return mirrors.fetch(repository.clone_url, credential, list(dict.fromkeys(refs)))


class _Preparation:
    def __init__(self, github: GitHub, mirrors: Mirrors, request: Request) -> None:
        self._github, self._mirrors, self._request = github, mirrors, request
        repo = request.trigger.thread.repo
        self._repository = github.forge.fetch_repository(repo)
        self._title = request.trigger.title or request.thread.title
        self._scene = Scene(
            github.channel,
            github.forge,
            self._repository,
            request.thread,
            request.trigger,
            request.asked_at,
        )

    def prepare(self) -> Prepared:
        request = self._request
        pull = _find_pull(
            self._github, request.thread, self._title, request.linked_pulls
        )
        names = self._names()
        target = self._target(pull, names)
        mirror = fetch_mirror(
            self._github,
            self._mirrors,
            self._repository,
            target.start_ref,
            target.trusted_ref,
        )
        trusted_sha = mirror.resolve(target.trusted_ref)
        start_sha = mirror.resolve(target.start_ref)
        work = Work(mirror.objects, target.base_branch, trusted_sha, start_sha, pull)
        checks = request.checks or self._fetch_checks(pull, start_sha)
        gathered = gather_context(self._scene, work, checks)
        return Prepared(
            repository=self._repository,
            target=target,
            mirror=mirror,
            trusted_sha=trusted_sha,
            task=self._task(target, work, gathered),
            images=gathered.images,
            # Resolved ones come last, so that the numbers of the others hold.
            review_threads=tuple(
                one.id
                for one in ordered_threads(request.thread.reviews)
                if not one.is_resolved
            ),
            names={**names, "sha": trusted_sha[:10]},
            template=find_template(mirror.objects, trusted_sha),
        )

    def _names(self) -> dict[str, str]:
        request, number = self._request, str(self._request.thread.ref.number)
        return {
            "number": number,
            "key": number,
            "slug": slug(self._title),
            "title": self._title,
            "label": request.label,
            "date": f"{request.asked_at:%Y-%m-%d}",
            "run": request.run_id[:8],
        }

    def _target(self, pull: PullRequest | None, names: Mapping[str, str]) -> Target:
        config, repository = self._request.config, self._repository
        is_new = pull is None or not pull.is_open
        base = config.base or (suggest_base(self._scene) if is_new else "")
        return plan_target(
            self._request.trigger.thread,
            self._title,
            repository,
            pull,
            branch=name_branch(config.branch, names, repository.default_branch),
            base=base,
        )

    def _fetch_checks(self, pull: PullRequest | None, sha: str) -> Checks | None:
        """Read the checks of the pull request that the thread is."""
        is_thread = self._request.thread.ref.kind is ThreadKind.PULL_REQUEST
        if pull is None or not is_thread:
            return None
        return self._github.forge.fetch_checks(self._repository.ref, sha)

    def _task(self, target: Target, work: Work, gathered: Gathered) -> Task:
        request, config = self._request, self._request.config
        written = brief(gathered.context, request.trigger, target.base_branch)
        knowledge = gather(work.code, work.base_sha)
        guide = knowledge.for_prompt(written.text)
        merges = self._merges(work.pull)
        merging = merge_text(target.base_branch) if merges else ""
        parts = (guide, written.text, merging)
        task = Task(
            text="\n\n".join(part for part in parts if part),
            base_sha=work.start_sha,
            base_branch=target.base_branch,
            title=request.thread.title,
            files=written.files,
            images=tuple(gathered.images),
            merge_sha=work.base_sha if merges else "",
            setup=config.setup,
            tests=config.test,
            notes=(
                *written.notes,
                *knowledge.notes,
                *([target.note] if target.note else []),
            ),
            message_trailer=self._trailer(),
        )
        return plan_first(task) if wants_plan(request.trigger, config) else task

    def _merges(self, pull: PullRequest | None) -> bool:
        """Tell whether the work is to merge the base into the pull request."""
        trigger = self._request.trigger
        if pull is None or trigger.thread.kind is not ThreadKind.PULL_REQUEST:
            return False
        if trigger.kind is TriggerKind.CONFLICT:
            return True
        return needs_merge(pull, trigger.request)

    def _trailer(self) -> str:
        """Name the requester as co-author, by the address that shows none of theirs."""
        requester = self._request.trigger.actor
        domain = f"users.noreply.{urlsplit(self._repository.web_url).hostname}"
        address = f"{requester.external_id}+{requester.login}".lstrip("+")
        return f"Co-authored-by: {requester.login} <{address}@{domain}>"


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
