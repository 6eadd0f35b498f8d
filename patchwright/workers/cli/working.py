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
from patchwright.core.settings.here import load_here
from patchwright.core.types.work import Outcome, OutcomeKind, explained, failed
from patchwright.resolver.messages.status import Delivered
from patchwright.workers.cli.local import Wish, read_wish, resolve_local
from patchwright.workers.cli.options import Deliver, Order
from patchwright.workers.cli.report import as_json, exit_code, print_result
from patchwright.workers.cli.session import Finished, Session, open_session

# Imported when a URL is given: loading PyGithub takes as long as all the rest here.
_REMOTE: Final = "patchwright.workers.cli.remote"

log = structlog.get_logger(__name__)


def work_on(options: Order) -> int:
    """Return the exit code; raises `SettingsError` for an order that makes no sense."""
    with _told_in_any_case(as_object=options.as_object):
        _check(options)
        settings = load_here(options.flags)
        local_task = read_wish(options) if options.url is None else None
        quiet = options.as_object or options.quiet
        with open_session(settings, options.events, quiet=quiet) as session:
            finished = _work(session, options, local_task)
            _report(session, finished, as_object=options.as_object)
    return exit_code(finished.outcome) or int(finished.is_left_out)


@contextmanager
def _told_in_any_case(*, as_object: bool) -> Iterator[None]:
    """Print the one object for a run that could not even begin; its error goes on."""
    try:
        yield
    except PatchwrightError as error:
        if as_object:
            typer.echo(as_json(failed(error), Delivered()))
        raise


def _check(options: Order) -> None:
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
    if options.url is None and options.deliver in (Deliver.DRAFT, Deliver.READY):
        raise SettingsError(
            f"--deliver {options.deliver} opens a pull request, which needs an issue's "
            "URL; for a local repository use branch, patch or none"
        )


def _work(session: Session, options: Order, local_task: Wish | None) -> Finished:
    """Work; a service that fails before the run has begun is an outcome as well."""
    try:
        if local_task is not None:
            return resolve_local(session, local_task)
        deliver = options.deliver or Deliver.DRAFT
        return _resolve_remote()(session, options.url or "", deliver)
    except SettingsError:
        raise
    except KeyboardInterrupt as told:
        said = _stopped(told, is_local=local_task is not None)
    except PatchwrightError as error:
        said = failed(error)
    except Exception:  # the edge of a run: whatever broke, its caller is told
        log.exception("run_broke")
        text = "Something broke inside Patchwright; standard error has the details."
        said = explained(OutcomeKind.FAILED, "internal", text)
    return Finished(session.broken_off(said), Delivered())


def _stopped(told: KeyboardInterrupt, *, is_local: bool) -> Outcome:
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


def _resolve_remote() -> Callable[[Session, str, Deliver], Finished]:
    resolve = import_module(_REMOTE).resolve_remote
    return cast("Callable[[Session, str, Deliver], Finished]", resolve)


def _report(session: Session, finished: Finished, *, as_object: bool) -> None:
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
