"""Do what `patchwright resolve` is asked for, and say how it ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final, cast

import structlog
import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.core.settings.here import load_settings_here
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome, error_outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.cli.local import LocalTask, read_local_task, resolve_local
from patchwright.workers.cli.options import DeliveryChoice, ResolveOptions
from patchwright.workers.cli.report import as_json, exit_code, print_result
from patchwright.workers.cli.session import FinishedRun, RunSession, open_session

# Imported when a URL is given: loading PyGithub takes as long as all the rest here.
_REMOTE_RUN: Final = "patchwright.workers.cli.remote"

log = structlog.get_logger(__name__)


def run_resolve(options: ResolveOptions) -> int:
    """Return the exit code; raises `SettingsError` for an order that makes no sense."""
    with _failure_as_json(as_object=options.as_object):
        _check_options(options)
        settings = load_settings_here(options.flags)
        local_task = read_local_task(options) if options.url is None else None
        quiet = options.as_object or options.quiet
        with open_session(settings, options.events, quiet=quiet) as session:
            finished = _resolve_task(session, options, local_task)
            _report(session, finished, as_object=options.as_object)
    return exit_code(finished.outcome) or int(finished.is_left_out)


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
            "say what to work on: the URL of an issue, or --issue FILE or --task TEXT "
            "with --repo PATH for a repository that is not here"
        )
    if options.url is not None and any(one is not None for one in local):
        raise SettingsError(
            "a URL says what to work on and where: leave out --repo, --issue and --task"
        )
    if options.url is not None and options.applies:
        raise SettingsError(
            "--apply is for a repository on this machine; for a URL, fetch the branch "
            "of the pull request"
        )
    if options.url is None and options.deliver in (DeliveryChoice.DRAFT, DeliveryChoice.READY):
        raise SettingsError(
            f"--deliver {options.deliver} opens a pull request, which needs an issue's "
            "URL; for a local repository use branch, patch or none"
        )


def _resolve_task(session: RunSession, options: ResolveOptions, local_task: LocalTask | None) -> FinishedRun:
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
        text = "Something broke inside Patchwright; standard error has the details."
        said = service_outcome(OutcomeKind.FAILED, "internal", text)
    return FinishedRun(session.record_early_end(said), DeliveryResult())


def _stopped_outcome(told: KeyboardInterrupt, *, is_local: bool) -> Outcome:
    """Say also what is kept of it."""
    kept = "Kept are the events of the run; what it had changed went with its sandbox."
    notes = (kept, "Your repository is as it was.") if is_local else (kept,)
    text = f"Stopped by {told}."
    return Outcome(
        kind=OutcomeKind.STOPPED,
        reason="asked",
        summary=text,
        service_text=text,
        notes=notes,
    )


def _resolve_remote() -> Callable[[RunSession, str, DeliveryChoice], FinishedRun]:
    resolve = import_module(_REMOTE_RUN).resolve_remote
    return cast("Callable[[Session, str, Deliver], Finished]", resolve)


def _report(session: RunSession, finished: FinishedRun, *, as_object: bool) -> None:
    outcome, delivered = finished.outcome, finished.delivered
    clean = session.redactor.redact
    outcome = outcome.replace(
        summary=clean(outcome.summary), service_text=clean(outcome.service_text)
    )
    if as_object:
        typer.echo(as_json(outcome, delivered, session.run_id, session.events))
        return
    print_result(Console(), outcome, delivered)
    session.console.print(
        Text(f"events: {session.events}", style="dim"), soft_wrap=True
    )
