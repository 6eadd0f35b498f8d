"""Fetch what a run needs before it can start: thread, repository, commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from patchwright.core.channel import Channel
from patchwright.core.forge import Checks, Forge
from patchwright.core.llm.model import Image
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.branch_names import branch_name, name_branch, slug
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    Repository,
    Thread,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Task
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.resolver.context.brief import write_brief
from patchwright.resolver.context.gather import (
    GatheredContext,
    RequestContext,
    StartingPoint,
    gather_context,
    suggest_base,
)
from patchwright.resolver.context.repository_files import (
    find_template,
    read_instructions,
)
from patchwright.resolver.context.thread_history import thread_as_requested
from patchwright.resolver.context.thread_sections import (
    order_review_threads,
    reopen_requesting_threads,
    requesting_threads,
)
from patchwright.resolver.publish.target import (
    RunTarget,
    plan_first,
    plan_target,
    wants_plan,
)
from patchwright.resolver.rounds import merge_text, needs_merge


@dataclass(frozen=True)
class Sources:
    """The services in which a run looks things up."""

    channel: Channel
    forge: Forge
    mirrors: MirrorCache


@dataclass(frozen=True)
class PreparationRequest:
    """The request, its thread at that time, and what is known about it.

    `linked_pulls` are the numbers of pull requests that earlier runs for this
    conversation opened. `linked` are its other threads and `tied` their texts. `label`
    is the label that started the run, if there is one. `checks` are the checks of the
    pull request, if they were read already. `token` makes the branch name unique.
    `privacy` tells the agent what it must not repeat; with it, no names are given
    either. `schema` describes the structured result that the agent returns. With
    `is_own_pull` the thread is a pull request of ours. `earlier_tests` are the commands
    of the last proof in this conversation.
    """

    run_id: str
    trigger: Trigger
    thread: Thread
    asked_at: datetime
    config: RepositoryConfig
    linked_pulls: Sequence[int] = ()
    linked: tuple[ThreadRef, ...] = ()
    tied: tuple[Thread, ...] = ()
    label: str = ""
    checks: Checks | None = None
    token: str = ""
    privacy: str = ""
    schema: str = ""
    is_own_pull: bool = False
    earlier_tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """Everything that was looked up, and the task made from it.

    `trusted_sha` is the head of the branch that the change is for. Instructions for
    agents are read from that commit, never from a pull request. `names` are the values
    of the variables in the repository's templates; `template` is its template for pull
    requests. `private_texts` were read elsewhere and must not be repeated in a public
    repository. `asked_reviews` are the numbers of the review threads with a request.
    """

    repository: Repository
    target: RunTarget
    mirror: Mirror
    trusted_sha: str
    task: Task
    images: Mapping[str, Image]
    review_threads: tuple[str, ...]
    asked_reviews: tuple[int, ...]
    names: Mapping[str, str]
    template: str
    private_texts: tuple[str, ...] = ()

    def with_notes(self, notes: tuple[str, ...]) -> "Prepared":
        """Return it with more notes, before the notes that it has."""
        task = self.task.replace(notes=(*notes, *self.task.notes))
        return replace(self, task=task)


def fetch_thread(channel: Channel, trigger: Trigger, asked_at: datetime) -> Thread:
    """Read the thread as it was when the request was made."""
    thread = thread_as_requested(
        channel.fetch_thread(trigger.thread), trigger, asked_at
    )
    reviews = reopen_requesting_threads(thread.reviews, trigger)
    return thread.replace(reviews=reviews)


def prepare(sources: Sources, request: PreparationRequest) -> Prepared:
    """Look everything up; raises a `ServiceError` or a `GitError`."""
    return _Preparation(sources, request).prepare()


def fetch_mirror(sources: Sources, repository: Repository, *refs: str) -> Mirror:
    credential = sources.forge.mint_credential(repository.ref)
    wanted = list(dict.fromkeys(refs))
    return sources.mirrors.fetch(repository.clone_url, credential, wanted)


class _Preparation:
    def __init__(self, sources: Sources, request: PreparationRequest) -> None:
        self._sources, self._request = sources, request
        repo = request.trigger.home
        self._repository = sources.forge.fetch_repository(repo)
        title = request.trigger.title or request.thread.title
        self._title = "" if request.privacy else title
        self._token = request.token or request.thread.ref.token
        self._context = RequestContext(
            sources.channel,
            sources.forge,
            self._repository,
            request.thread,
            request.trigger,
            request.asked_at,
            request.tied,
        )

    def prepare(self) -> Prepared:
        request = self._request
        pull, is_named = self._find_pull()
        names = self._names()
        target = self._target(pull, names, is_named=is_named)
        mirror = fetch_mirror(
            self._sources, self._repository, target.start_ref, target.trusted_ref
        )
        trusted_sha = mirror.resolve(target.trusted_ref)
        start_sha = mirror.resolve(target.start_ref)
        work = StartingPoint(
            mirror.objects, target.base_branch, trusted_sha, start_sha, pull
        )
        checks = request.checks or self._fetch_checks(pull, start_sha)
        gathered = gather_context(self._context, work, checks)
        return Prepared(
            repository=self._repository,
            target=target,
            mirror=mirror,
            trusted_sha=trusted_sha,
            task=self._task(target, work, gathered).replace(trusted_sha=trusted_sha),
            images=gathered.images,
            private_texts=gathered.private_texts,
            # Resolved threads come last: so the numbers of the others do not change.
            review_threads=tuple(
                one.id
                for one in order_review_threads(request.thread.reviews)
                if not one.is_resolved
            ),
            asked_reviews=requesting_threads(request.thread.reviews, request.trigger),
            names={**names, "sha": trusted_sha[:10]},
            template=find_template(mirror.objects, trusted_sha),
        )

    def _names(self) -> dict[str, str]:
        request = self._request
        return {
            "number": self._token,
            "key": self._token,
            "slug": slug(self._title),
            "title": self._title,
            "label": request.label,
            "date": f"{request.asked_at:%Y-%m-%d}",
            "run": request.run_id[:8],
        }

    def _target(
        self, pull: PullRequest | None, names: Mapping[str, str], *, is_named: bool
    ) -> RunTarget:
        config, repository = self._request.config, self._repository
        is_new = pull is None or not pull.is_open
        base = config.base or (suggest_base(self._context) if is_new else "")
        return plan_target(
            self._request.trigger.thread,
            self._title,
            repository,
            pull,
            branch=name_branch(config.branch, names, repository.default_branch),
            base=base,
            is_named=is_named,
            is_own=self._request.is_own_pull,
        )

    def _fetch_checks(self, pull: PullRequest | None, sha: str) -> Checks | None:
        """Read the checks, if the thread is a pull request."""
        is_thread = self._request.thread.ref.kind.is_pull
        checks = self._sources.forge.checks
        if pull is None or not is_thread or checks is None:
            return None
        return checks.fetch_checks(self._repository.ref, sha)

    def _task(
        self, target: RunTarget, work: StartingPoint, gathered: GatheredContext
    ) -> Task:
        request, config = self._request, self._request.config
        written = write_brief(gathered.context, request.trigger, target.base_branch)
        knowledge = read_instructions(work.code, work.base_sha, config.instructions)
        guide = knowledge.for_prompt(written.text)
        merges = self._merges(work.pull)
        is_old = work.pull is not None and work.pull.is_open
        merging = merge_text(target.base_branch) if merges else ""
        parts = (guide, written.text, merging, request.privacy)
        task = Task(
            text="\n\n".join(part for part in parts if part),
            base_sha=work.start_sha,
            base_branch=target.base_branch,
            title=self._title,
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
            message_trailer="" if config.co_author == "none" else self._trailer(),
            proves=config.evidence != "off",
            setup_may_fail=config.on_setup_failure == "continue",
            result_schema=request.schema,
            removed=written.removed + knowledge.removed,
            proof_base_sha=_proof_base(work, merges=merges) if is_old else "",
            earlier_tests=request.earlier_tests if is_old else (),
        )
        return plan_first(task) if wants_plan(request.trigger, config) else task

    def _merges(self, pull: PullRequest | None) -> bool:
        """Tell whether the task is to merge the base branch into the pull request."""
        trigger = self._request.trigger
        if pull is None or not trigger.thread.kind.is_pull:
            return False
        if trigger.kind is TriggerKind.CONFLICT:
            return True
        return needs_merge(pull, trigger.request)

    def _find_pull(self) -> tuple[PullRequest | None, bool]:
        """Return the pull request to work on, and whether the request names it.

        It is the thread itself, our own open pull request, or a pull request that
        people linked.
        """
        request, forge = self._request, self._sources.forge
        repo, own = self._repository.ref, request.thread.ref
        if isinstance(own, ForgeThread) and own.kind.is_pull:
            return forge.fetch_pull_request(repo, own.number), False
        earlier = [forge.fetch_pull_request(repo, one) for one in request.linked_pulls]
        # The title may have been different at the time of the request.
        branches = [pull.head_branch for pull in earlier if pull.same_repository]
        found = (
            forge.find_pull_request(repo, branch)
            for branch in (*branches, branch_name(self._token, self._title))
        )
        made = next((pull for pull in found if pull is not None), None)
        if made is not None:
            return made, False
        named = _pulls_in(request.linked, repo)
        return (
            (forge.fetch_pull_request(repo, named[0]), True) if named else (None, False)
        )

    def _trailer(self) -> str:
        """Name the requester as co-author, by an email address that hides their own."""
        requester = self._request.trigger.asker
        domain = f"users.noreply.{urlsplit(self._repository.web_url).hostname}"
        login, external_id = requester.login, requester.external_id
        known = self._repository.forms.mail_name.format(id=external_id, login=login)
        name = known if external_id else login
        return f"Co-authored-by: {login} <{name}@{domain}>"


def _proof_base(work: StartingPoint, *, merges: bool) -> str:
    """Return where an open pull request has left its base branch.

    Empty where nothing of it is left to be proven, or where it has never been there.
    """
    if merges:
        return work.base_sha
    found = work.code.merge_base(work.start_sha, work.base_sha)
    return found if found and found != work.start_sha else ""


def _pulls_in(threads: Sequence[ThreadRef], repo: RepoRef) -> list[int]:
    return [
        one.number
        for one in threads
        if isinstance(one, ForgeThread) and one.repo == repo and one.kind.is_pull
    ]
