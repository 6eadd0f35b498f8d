"""Carry out `patchwright resolve`, in a checkout or for an issue on the forge."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, cast

import structlog
import typer
from rich.console import Console

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.system.logs import log_more
from patchwright.core.text.branch_names import flat_name, slug
from patchwright.core.types.errors import GitError, PatchwrightError, SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import (
    ASKED,
    Outcome,
    Task,
    error_outcome,
    service_outcome,
)
from patchwright.integrations.git.local import LocalRepository
from patchwright.integrations.registry import find_forge
from patchwright.resolver.attempt import INTERNAL
from patchwright.resolver.context.brief import write_text_brief
from patchwright.resolver.context.repository_files import read_instructions
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.outcome import EXCESS
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.resolver.publish.target import plan_first
from patchwright.resolver.set_up.plan import with_inferred_set_up
from patchwright.resolver.triage import (
    TriageQuestion,
    needs_input_outcome,
    triage_texts,
)
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.forge_token import find_forge_token
from patchwright.workers.cli.interruption import INTERRUPTED
from patchwright.workers.cli.next_commands import name_of_run, next_commands
from patchwright.workers.cli.report import (
    as_json,
    event_stream,
    exit_code,
    print_result,
    result_line,
)
from patchwright.workers.cli.resolve_command import (
    DeliveryChoice,
    FailOn,
    ResolveOptions,
)
from patchwright.workers.cli.session import (
    BROKEN,
    RunSession,
    open_session,
)
from patchwright.workers.cli.target import (
    Target,
    TextTarget,
    ThreadTarget,
    locate_thread,
    read_target,
)
from patchwright.workers.cli.terminal import load_command_settings, print_warning
from patchwright.workers.preflight import require_ready

_AFTER_PLAN: Final = (
    "Nothing was changed. To carry the plan out, run the same command without --plan; "
    "to change it, say in the task what should be different."
)


@dataclass(frozen=True)
class LocalTask:
    """What is to be done in a checkout, and what becomes of the change.

    With `plans` only a plan is made, and with `applies` the work tree gets the change
    too. `tests` replace the repository's own.
    """

    target: TextTarget
    deliver: DeliveryChoice
    plans: bool
    applies: bool
    tests: tuple[str, ...]


def resolve_local(session: RunSession, local_task: LocalTask) -> FinishedRun:
    """Work on the current commit; the work tree and the index stay as they are."""
    repository, base_sha = _open(local_task)
    judged = triage_texts(local_task.target.title, local_task.target.body)
    if session.settings.agent.triage and isinstance(judged, TriageQuestion):
        return FinishedRun(needs_input_outcome(judged), DeliveryResult())
    config = read_repository_config(repository.objects.read_file(base_sha, CONFIG_FILE))
    config = config.replace(test=local_task.tests) if local_task.tests else config
    session, notes = session.with_repository_config(config)
    session = session.with_local_view(
        repository, base_sha, prepares_itself=bool(config.setup)
    )
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


def _open(local_task: LocalTask) -> tuple[LocalRepository, str]:
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
    local_task: LocalTask,
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
    local_task: LocalTask,
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
    local_task: LocalTask,
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
    repository: LocalRepository, local_task: LocalTask, outcome: Outcome, run_id: str
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
    local_task: LocalTask,
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


# Imported for an issue on the forge: PyGithub takes as long to load as all the rest.
_REMOTE_RUN: Final = "patchwright.workers.cli.remote_run"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _RemoteTask:
    """A thread on the forge to work on, and where its token was found, in words."""

    thread: ThreadTarget
    token_found_in: str


def run_resolve(options: ResolveOptions) -> int:
    """Return the exit code; raises `SettingsError` for an order that makes no sense."""
    with _failure_as_json(options):
        target = read_target(options.target)
        _check_options(options, target)
        settings = load_command_settings(options.flags, options.config)
        settings, task = _find_task(settings, target, options)
        doubts = require_ready(settings)
        for line in () if options.is_silent else doubts:
            print_warning(line)
        with open_session(settings, options.events, quiet=options.is_silent) as session:
            if options.is_verbose:
                log_more()
            with event_stream(session.log, is_wanted=options.streams):
                finished = _resolve_task(session, options, task)
            finished = _with_next_step(finished) if options.plans else finished
            _report(session, options, finished)
            if session.interruption.was_told:
                return INTERRUPTED
    shown = as_delivered(finished.outcome, finished.delivered)
    needs_proof = options.fail_on is FailOn.UNPROVEN
    return exit_code(shown, needs_proof=needs_proof) or int(finished.is_left_out)


def _find_task(
    settings: Settings, target: Target, options: ResolveOptions
) -> tuple[Settings, LocalTask | _RemoteTask]:
    """Return what to do, and the settings with the token that this needs."""
    if isinstance(target, TextTarget):
        return settings, LocalTask(
            target=target,
            deliver=options.deliver or DeliveryChoice.BRANCH,
            plans=options.plans,
            applies=options.applies,
            tests=options.tests,
        )
    forge = find_forge(settings)
    thread = locate_thread(target, forge.describe(settings))
    found = find_forge_token(forge, settings, process_environment())
    return found.settings, _RemoteTask(thread, found.found_in)


def _with_next_step(finished: FinishedRun) -> FinishedRun:
    """Say how to go on after a plan."""
    outcome = finished.outcome
    if outcome.kind is not OutcomeKind.PLAN_POSTED:
        return finished
    notes = (*outcome.notes, _AFTER_PLAN)
    return replace(finished, outcome=outcome.replace(notes=notes))


@contextmanager
def _failure_as_json(options: ResolveOptions) -> Iterator[None]:
    """Print the one object for a run that could not even begin; its error goes on."""
    try:
        yield
    except PatchwrightError as error:
        if options.prints_json:
            result = as_json(FinishedRun(error_outcome(error), DeliveryResult()))
            typer.echo(result_line(result) if options.streams else result)
        raise


def _check_options(options: ResolveOptions, target: Target) -> None:
    """Raise `SettingsError` for options that do not fit what is worked on."""
    if options.as_object and options.streams:
        raise SettingsError(
            "--json prints one object and --json-stream one a line: choose one of them"
        )
    if options.plans and (options.applies or options.deliver is not None):
        raise SettingsError(
            "--plan changes nothing: leave out --deliver and --apply, and use them "
            "when you carry the plan out"
        )
    if not isinstance(target, TextTarget):
        if options.applies:
            raise SettingsError(
                "--apply is for a task in a checkout; for an issue on the forge, fetch "
                "the branch of the pull request"
            )
        return
    if options.deliver in (DeliveryChoice.DRAFT, DeliveryChoice.READY):
        raise SettingsError(
            f"--deliver {options.deliver} opens a pull request and needs an issue on "
            "the forge; for a task in a checkout use branch, patch or none"
        )


def _resolve_task(
    session: RunSession, options: ResolveOptions, task: LocalTask | _RemoteTask
) -> FinishedRun:
    """Work; a service that fails before the run has begun is an outcome as well."""
    try:
        return _work(session, options, task)
    except SettingsError:
        raise
    except KeyboardInterrupt as told:
        said = _stopped_outcome(told, is_local=isinstance(task, LocalTask))
    except PatchwrightError as error:
        said = error_outcome(error)
    except Exception:  # the edge of a run: whatever broke, its caller is told
        log.exception("run_broke")
        said = service_outcome(OutcomeKind.FAILED, INTERNAL, BROKEN)
    return FinishedRun(session.record_early_end(said), DeliveryResult())


def _work(
    session: RunSession, options: ResolveOptions, task: LocalTask | _RemoteTask
) -> FinishedRun:
    if isinstance(task, LocalTask):
        finished = resolve_local(session, task)
    else:
        log.debug("token_found", found_in=task.token_found_in)
        found_in = task.token_found_in
        finished = _resolve_remote()(session, task.thread, options, found_in)
    session.record_result(finished)
    return finished


def _stopped_outcome(interrupt: KeyboardInterrupt, *, is_local: bool) -> Outcome:
    """Say that the run ended at once, and what is left of it."""
    lost = "The work was lost with the sandbox; the log of the run is kept."
    notes = (lost, "Your repository was not changed.") if is_local else (lost,)
    text = f"Ended at once by {interrupt}."
    return Outcome(
        kind=OutcomeKind.STOPPED,
        reason=ASKED,
        summary=text,
        service_text=text,
        notes=notes,
    )


_ResolveRemote = Callable[[RunSession, ThreadTarget, ResolveOptions, str], FinishedRun]


def _resolve_remote() -> _ResolveRemote:
    return cast("_ResolveRemote", import_module(_REMOTE_RUN).resolve_remote)


def _report(
    session: RunSession, options: ResolveOptions, finished: FinishedRun
) -> None:
    told = finished.outcome.model_dump(mode="json")
    # Outputs of tests are in it, too.
    outcome = Outcome.model_validate(session.redactor.redact_json(told))
    shown = replace(finished, outcome=outcome)
    if options.prints_json:
        result = as_json(shown, session.run_id, session.events)
        typer.echo(result_line(result) if options.streams else result)
        return
    folder = session.settings.state_dir / "runs"
    run = name_of_run(session.run_id, session.events, folder)
    print_result(Console(), shown, next_commands(shown, run))
    if options.is_verbose:
        session.console.print(f"events: {session.events}", soft_wrap=True)
