"""Carry out `patchwright resolve`, for a repository on this machine or by URL."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, cast

import structlog
import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.settings.repository_file import read_repository_config
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
from patchwright.resolver.attempt import INTERNAL
from patchwright.resolver.context.brief import write_text_brief
from patchwright.resolver.context.repository_files import read_instructions
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.outcome import EXCESS
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.resolver.set_up.plan import with_inferred_set_up
from patchwright.resolver.triage import (
    TriageQuestion,
    needs_input_outcome,
    triage_texts,
)
from patchwright.workers.cli.report import as_json, exit_code, print_result
from patchwright.workers.cli.run_commands import (
    DeliveryChoice,
    FailOn,
    ResolveOptions,
)
from patchwright.workers.cli.session import (
    BROKEN,
    FinishedRun,
    RunSession,
    open_session,
)
from patchwright.workers.cli.settings import load_command_settings
from patchwright.workers.preflight import require_ready

STANDARD_INPUT: Final = Path("-")


@dataclass(frozen=True)
class LocalTask:
    """What is to be done where; with `applies` the work tree gets the change too."""

    title: str
    body: str
    repo: Path
    deliver: DeliveryChoice
    applies: bool


def read_local_task(options: ResolveOptions) -> LocalTask:
    """Return what an order without a URL asks for; raises `SettingsError`."""
    title, body = (
        ("", options.task) if options.task is not None else _read_issue(options.issue)
    )
    if not (title + body).strip():
        raise SettingsError("--task is empty; write the task")
    return LocalTask(
        title=title,
        body=body,
        repo=options.repo or Path(),
        deliver=options.deliver or DeliveryChoice.BRANCH,
        applies=options.applies,
    )


def resolve_local(session: RunSession, local_task: LocalTask) -> FinishedRun:
    """Work on the current commit; the work tree and the index stay as they are."""
    repository, base_sha = _open(local_task)
    judged = triage_texts(local_task.title, local_task.body)
    if session.settings.agent.triage and isinstance(judged, TriageQuestion):
        return FinishedRun(needs_input_outcome(judged), DeliveryResult())
    config = read_repository_config(repository.objects.read_file(base_sha, CONFIG_FILE))
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
    if not session.view.shows_environment:
        # In what is shown nothing can be installed, and nothing needs to be.
        sandbox = session.settings.sandbox
        task = with_inferred_set_up(task, repository.objects, config, sandbox)
    outcome = session.resolve(task, repository.objects, base_sha, config=config)
    finished = _deliver(session, repository, local_task, outcome)
    repository.objects.release(session.run_id)
    return finished


def _open(local_task: LocalTask) -> tuple[LocalRepository, str]:
    try:
        repository = LocalRepository.open(local_task.repo)
        base_sha = repository.resolve()
        repository.objects.require_files(base_sha)
    except GitError as error:
        raise SettingsError(f"--repo: {error}") from error
    if local_task.applies and repository.root is None:
        raise SettingsError("--apply: the repository is bare, it has no work tree")
    return repository, base_sha


def _deliver(
    session: RunSession,
    repository: LocalRepository,
    local_task: LocalTask,
    outcome: Outcome,
) -> FinishedRun:
    delivered = DeliveryResult()
    if not outcome.head_sha:
        return FinishedRun(outcome, delivered)
    if local_task.deliver is DeliveryChoice.BRANCH:
        delivered = _make_branch(repository, local_task, outcome, session.run_id)
    if local_task.deliver is DeliveryChoice.PATCH:
        session.write_patch(repository.objects, outcome)
    if not local_task.applies or outcome.reason == EXCESS:
        # What looks like an accident stays on its branch.
        return FinishedRun(outcome, delivered)
    try:
        repository.apply(outcome.base_sha, outcome.head_sha)
    except GitError as error:
        return _work_tree_unchanged(
            session, repository, local_task, FinishedRun(outcome, delivered), error
        )
    note = "The change is in your work tree; nothing was staged or committed."
    return FinishedRun(outcome, delivered.replace(remarks=(note,)))


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
    return FinishedRun(finished.outcome, result, is_left_out=True)


def _make_branch(
    repository: LocalRepository, local_task: LocalTask, outcome: Outcome, run_id: str
) -> DeliveryResult:
    """Make a branch; if that cannot be, one of another name.

    Somebody may have that name already, or one such as `patchwright`, below which git
    makes no other.
    """
    usual = (
        f"patchwright/{slug(outcome.title or local_task.title or 'proposed change')}"
    )
    own = f"{usual}-{run_id[:8]}"
    *names, last = (usual, own, flat_name(usual), flat_name(own))
    for name in names:
        with suppress(GitError):
            repository.create_branch(name, outcome.head_sha)
            return DeliveryResult(branch=name)
    repository.create_branch(last, outcome.head_sha)
    return DeliveryResult(branch=last)


def _read_issue(issue: Path | None) -> tuple[str, str]:
    """Return title and text; the first line is the title if it looks like one."""
    path = issue or STANDARD_INPUT
    try:
        text = _read_text(path)
    except OSError as error:
        raise SettingsError(f"--issue: {error}") from error
    if not text.strip():
        name = "standard input" if path == STANDARD_INPUT else path
        raise SettingsError(f"--issue: {name} is empty; write what is wrong")
    first, _, rest = text.strip().partition("\n")
    return (first.lstrip("# ").strip(), rest) if first.startswith("#") else ("", text)


def _read_text(path: Path) -> str:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    return path.read_text(encoding="utf-8", errors="replace")


def _write_task(
    local_task: LocalTask,
    repository: LocalRepository,
    base_sha: str,
    instructions: tuple[str, ...],
) -> Task:
    written = write_text_brief(local_task.title, local_task.body)
    knowledge = read_instructions(repository.objects, base_sha, instructions)
    guide = knowledge.for_prompt(written.text)
    unsaved = repository.has_uncommitted_changes()
    notes = ["The run did not see changes that are not committed."] if unsaved else []
    return Task(
        text="\n\n".join(part for part in (guide, written.text) if part),
        base_sha=base_sha,
        base_branch=repository.find_branch() or "",
        title=local_task.title,
        files=written.files,
        notes=(*written.notes, *knowledge.notes, *notes),
        removed=written.removed + knowledge.removed,
    )


# Imported when a URL is given: loading PyGithub takes as long as all the rest here.
_REMOTE_RUN: Final = "patchwright.workers.cli.remote_run"

log = structlog.get_logger(__name__)


def run_resolve(options: ResolveOptions) -> int:
    """Return the exit code; raises `SettingsError` for an order that makes no sense."""
    with _failure_as_json(as_object=options.as_object):
        _check_options(options)
        settings = load_command_settings(options.flags)
        local_task = read_local_task(options) if options.url is None else None
        quiet = options.as_object or options.quiet
        require_ready(settings, uses_forge=options.url is not None, quiet=quiet)
        with open_session(settings, options.events, quiet=quiet) as session:
            finished = _resolve_task(session, options, local_task)
            _report(session, finished, as_object=options.as_object)
    shown = as_delivered(finished.outcome, finished.delivered)
    needs_proof = options.fail_on is FailOn.UNPROVEN
    return exit_code(shown, needs_proof=needs_proof) or int(finished.is_left_out)


@contextmanager
def _failure_as_json(*, as_object: bool) -> Iterator[None]:
    """Print the one object for a run that could not even begin; its error goes on."""
    try:
        yield
    except PatchwrightError as error:
        if as_object:
            typer.echo(as_json(error_outcome(error), DeliveryResult()))
        raise


def _check_options(options: ResolveOptions) -> None:
    """Raise `SettingsError` unless it is clear what to work on, and where."""
    local = (options.repo, options.issue, options.task)
    if options.url is None and (options.issue is None) == (options.task is None):
        raise SettingsError(
            "say what to work on: the URL of an issue, or --issue FILE or --task "
            "TEXT; add --repo PATH if the repository is not the current folder"
        )
    if options.url is not None and any(one is not None for one in local):
        raise SettingsError(
            "a URL already names the issue and the repository: leave out --repo, "
            "--issue and --task"
        )
    if options.url is not None and options.applies:
        raise SettingsError(
            "--apply is for a repository on this machine; for a URL, fetch the branch "
            "of the pull request"
        )
    if options.url is None and options.deliver in (
        DeliveryChoice.DRAFT,
        DeliveryChoice.READY,
    ):
        raise SettingsError(
            f"--deliver {options.deliver} opens a pull request and needs the URL of "
            "an issue; for a local repository use branch, patch or none"
        )


def _resolve_task(
    session: RunSession, options: ResolveOptions, local_task: LocalTask | None
) -> FinishedRun:
    """Work; a service that fails before the run has begun is an outcome as well."""
    try:
        if local_task is not None:
            return resolve_local(session, local_task)
        deliver = options.deliver or DeliveryChoice.DRAFT
        return _resolve_remote()(session, options.url or "", deliver)
    except SettingsError:
        raise
    except KeyboardInterrupt as told:
        said = _stopped_outcome(told, is_local=local_task is not None)
    except PatchwrightError as error:
        said = error_outcome(error)
    except Exception:  # the edge of a run: whatever broke, its caller is told
        log.exception("run_broke")
        said = service_outcome(OutcomeKind.FAILED, INTERNAL, BROKEN)
    return FinishedRun(session.record_early_end(said), DeliveryResult())


def _stopped_outcome(interrupt: KeyboardInterrupt, *, is_local: bool) -> Outcome:
    """Also say which of its work is stored."""
    kept = "The events of the run are kept; its changes were lost with the sandbox."
    notes = (kept, "Your repository was not changed.") if is_local else (kept,)
    text = f"Stopped by {interrupt}."
    return Outcome(
        kind=OutcomeKind.STOPPED,
        reason=ASKED,
        summary=text,
        service_text=text,
        notes=notes,
    )


def _resolve_remote() -> Callable[[RunSession, str, DeliveryChoice], FinishedRun]:
    resolve = import_module(_REMOTE_RUN).resolve_remote
    return cast("Callable[[RunSession, str, DeliveryChoice], FinishedRun]", resolve)


def _report(session: RunSession, finished: FinishedRun, *, as_object: bool) -> None:
    delivered, told = finished.delivered, finished.outcome.model_dump(mode="json")
    # Outputs of tests are in it, too.
    outcome = Outcome.model_validate(session.redactor.redact_json(told))
    if as_object:
        typer.echo(as_json(outcome, delivered, session.run_id, session.events))
        return
    print_result(Console(), outcome, delivered)
    session.console.print(
        Text(f"events: {session.events}", style="dim"), soft_wrap=True
    )
