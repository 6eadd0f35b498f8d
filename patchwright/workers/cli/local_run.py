"""Resolve a task in the checkout of somebody, which stays as it is."""

from contextlib import suppress
from dataclasses import dataclass, replace

from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.text.branch_names import flat_name, slug
from patchwright.core.types.errors import GitError, SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.local import LocalRepository
from patchwright.resolver.context.brief import write_text_brief
from patchwright.resolver.context.repository_files import read_instructions
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.outcome import EXCESS
from patchwright.resolver.publish.target import plan_first
from patchwright.resolver.set_up.plan import with_inferred_set_up
from patchwright.resolver.triage import (
    TriageQuestion,
    needs_input_outcome,
    triage_texts,
)
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.resolve_command import DeliveryChoice, ResolveOptions
from patchwright.workers.cli.session import RunSession
from patchwright.workers.cli.target import TextTarget


@dataclass(frozen=True)
class _LocalTask:
    """What is to be done in a checkout, and what becomes of the change.

    With `plans` only a plan is made, and with `applies` the work tree gets the change
    too. `tests` replace the repository's own.
    """

    target: TextTarget
    deliver: DeliveryChoice
    plans: bool
    applies: bool
    tests: tuple[str, ...]


def resolve_local(
    session: RunSession, target: TextTarget, options: ResolveOptions
) -> FinishedRun:
    """Work on the current commit; the work tree and the index stay as they are."""
    local_task = _LocalTask(
        target=target,
        deliver=options.deliver or DeliveryChoice.BRANCH,
        plans=options.plans,
        applies=options.applies,
        tests=options.tests,
    )
    repository, base_sha = _open(local_task)
    judged = triage_texts(local_task.target.title, local_task.target.body)
    if session.settings.agent.triage and isinstance(judged, TriageQuestion):
        return FinishedRun(needs_input_outcome(judged), DeliveryResult())
    config = read_repository_config(repository.objects.read_file(base_sha, CONFIG_FILE))
    config = config.replace(test=local_task.tests) if local_task.tests else config
    session, notes = session.with_repository_config(config)
    prepares = bool(config.setup)
    session = session.with_local_view(repository, base_sha, prepares_itself=prepares)
    task = _write_task(local_task, repository, base_sha, config.instructions)
    task = task.replace(
        setup=config.setup,
        tests=config.test,
        proves=config.evidence != "off",
        setup_may_fail=config.on_setup_failure == "continue"
        or session.view.shows_environment,
        notes=(*notes, *task.notes),
        trusted_sha=base_sha,
    )
    task = plan_first(task) if local_task.plans else task
    if not session.view.shows_environment:
        # In what is shown nothing can be installed, and nothing needs to be.
        sandbox = session.settings.sandbox
        task = with_inferred_set_up(task, repository.objects, config, sandbox)
    outcome = session.resolve(task, repository.objects, base_sha, config=config)
    with session.interruption.delivering():
        finished = _deliver(session, repository, local_task, outcome)
    repository.objects.release(session.run_id)
    return finished


def _open(local_task: _LocalTask) -> tuple[LocalRepository, str]:
    try:
        repository = LocalRepository.open(local_task.target.folder)
        base_sha = repository.resolve()
        repository.objects.require_files(base_sha)
    except GitError as error:
        raise SettingsError(f"-C: {error}") from error
    if local_task.applies and repository.root is None:
        raise SettingsError("--apply: the repository is bare, it has no work tree")
    return repository, base_sha


def _deliver(
    session: RunSession,
    repository: LocalRepository,
    local_task: _LocalTask,
    outcome: Outcome,
) -> FinishedRun:
    if not outcome.head_sha:
        return FinishedRun(outcome, DeliveryResult())
    finished = _deliver_commit(session, repository, local_task, outcome)
    is_unfinished = outcome.kind is OutcomeKind.STOPPED
    if not local_task.applies or outcome.reason == EXCESS or is_unfinished:
        # What looks like an accident, or was cut short, stays on its branch.
        return finished
    try:
        repository.apply(outcome.base_sha, outcome.head_sha)
    except GitError as error:
        return _work_tree_unchanged(session, repository, local_task, finished, error)
    note = "The change is in your work tree; nothing was staged or committed."
    delivered = finished.delivered.replace(remarks=(note,))
    return replace(finished, delivered=delivered)


def _deliver_commit(
    session: RunSession,
    repository: LocalRepository,
    local_task: _LocalTask,
    outcome: Outcome,
) -> FinishedRun:
    """Make the branch or the patch; work that gets no branch is kept as a patch."""
    objects, delivered, patch = repository.objects, DeliveryResult(), None
    if local_task.deliver is DeliveryChoice.PATCH:
        patch = session.write_patch(objects, outcome)
    if local_task.deliver is DeliveryChoice.BRANCH:
        try:
            delivered = _make_branch(repository, local_task, outcome, session.run_id)
        except GitError as error:
            patch = session.write_patch(objects, outcome)
            why = f"A patch was written, as no branch could be made: {error}"
            delivered = delivered.replace(remarks=(why,))
    if (
        local_task.deliver is DeliveryChoice.NONE
        and outcome.kind is OutcomeKind.STOPPED
    ):
        why = "The work was not kept, because of --deliver none."
        delivered = delivered.replace(remarks=(why,))
    files = objects.count_by_file(outcome.base_sha, outcome.head_sha)
    return FinishedRun(
        outcome, delivered, files, patch, local_task.target.folder.resolve()
    )


def _work_tree_unchanged(
    session: RunSession,
    repository: LocalRepository,
    local_task: _LocalTask,
    finished: FinishedRun,
    error: GitError,
) -> FinishedRun:
    """Say why the work tree has not got the change; in any case a branch has it."""
    delivered = finished.delivered
    if not delivered.branch:
        delivered = _make_branch(
            repository, local_task, finished.outcome, session.run_id
        )
    refusal = (
        "to your work tree, because it would overwrite changes that are not "
        f"committed. Commit or stash them, then run `git merge {delivered.branch}`. "
        f"{error}"
    )
    result = delivered.replace(refusal=refusal)
    return replace(finished, delivered=result, is_left_out=True)


def _make_branch(
    repository: LocalRepository, local_task: _LocalTask, outcome: Outcome, run_id: str
) -> DeliveryResult:
    """Make a branch; if that cannot be, one of another name.

    Somebody may have that name already, or one such as `patchwright`, below which git
    makes no other.
    """
    title = outcome.title or local_task.target.title or "proposed change"
    usual = f"patchwright/{slug(title)}"
    own = f"{usual}-{run_id[:8]}"
    *names, last = (usual, own, flat_name(usual), flat_name(own))
    for name in names:
        with suppress(GitError):
            repository.create_branch(name, outcome.head_sha)
            return DeliveryResult(branch=name)
    repository.create_branch(last, outcome.head_sha)
    return DeliveryResult(branch=last)


def _write_task(
    local_task: _LocalTask,
    repository: LocalRepository,
    base_sha: str,
    instructions: tuple[str, ...],
) -> Task:
    target = local_task.target
    written = write_text_brief(target.title, target.body)
    knowledge = read_instructions(repository.objects, base_sha, instructions)
    guide = knowledge.for_prompt(written.text)
    unsaved = repository.has_uncommitted_changes()
    notes = ["The run did not see changes that are not committed."] if unsaved else []
    return Task(
        text="\n\n".join(part for part in (guide, written.text) if part),
        base_sha=base_sha,
        base_branch=repository.find_branch() or "",
        title=target.title,
        files=written.files,
        notes=(*written.notes, *knowledge.notes, *notes),
        removed=written.removed + knowledge.removed,
    )
