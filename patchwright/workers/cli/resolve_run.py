"""Carry out `patchwright resolve` once its order and its settings have been checked."""

from dataclasses import replace
from typing import Final

import structlog
import typer
from rich.console import Console

from patchwright.core.system.logs import log_more
from patchwright.core.types.errors import PatchwrightError, SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import ASKED, Outcome, error_outcome, service_outcome
from patchwright.resolver.attempt import INTERNAL
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.workers.cli.commands import load_handler
from patchwright.workers.cli.finished_run import FinishedRun, name_of_run, next_commands
from patchwright.workers.cli.forge_token import FoundToken
from patchwright.workers.cli.interruption import INTERRUPTED
from patchwright.workers.cli.local_run import resolve_local
from patchwright.workers.cli.report import (
    as_json,
    event_stream,
    exit_code,
    print_result,
    result_line,
)
from patchwright.workers.cli.resolve_command import FailOn, ResolveOptions
from patchwright.workers.cli.session import BROKEN, RunSession, open_session
from patchwright.workers.cli.target import TextTarget, ThreadTarget

_AFTER_PLAN: Final = (
    "Nothing was changed. To carry the plan out, run the same command without --plan; "
    "to change it, say in the task what should be different."
)

log = structlog.get_logger(__name__)


def carry_out(
    found: FoundToken, options: ResolveOptions, target: TextTarget | ThreadTarget
) -> int:
    """Return the exit code; raises `SettingsError` for what the run cannot begin with.

    `found` has the settings, and for a thread says where its token was found.
    """
    settings, is_silent = found.settings, options.is_silent
    with open_session(settings, options.events, quiet=is_silent) as session:
        if options.is_verbose:
            log_more()
        with event_stream(session.log, is_wanted=options.streams):
            finished = _resolve(session, options, target, found.found_in)
        finished = _with_next_step(finished) if options.plans else finished
        _report(session, options, finished)
        if session.interruption.was_told:
            return INTERRUPTED
    shown = as_delivered(finished.outcome, finished.delivered)
    needs_proof = options.fail_on is FailOn.UNPROVEN
    return exit_code(shown, needs_proof=needs_proof) or int(finished.is_left_out)


def _with_next_step(finished: FinishedRun) -> FinishedRun:
    """Say how to go on after a plan."""
    outcome = finished.outcome
    if outcome.kind is not OutcomeKind.PLAN_POSTED:
        return finished
    notes = (*outcome.notes, _AFTER_PLAN)
    return replace(finished, outcome=outcome.replace(notes=notes))


def _resolve(
    session: RunSession,
    options: ResolveOptions,
    target: TextTarget | ThreadTarget,
    token_found_in: str,
) -> FinishedRun:
    """Work; a service that fails before the run has begun is an outcome as well."""
    try:
        return _work(session, options, target, token_found_in)
    except SettingsError:
        raise
    except KeyboardInterrupt as told:
        said = _stopped_outcome(told, is_local=isinstance(target, TextTarget))
    except PatchwrightError as error:
        said = error_outcome(error)
    except Exception:  # the edge of a run: whatever broke, its caller is told
        log.exception("run_broke")
        said = service_outcome(OutcomeKind.FAILED, INTERNAL, BROKEN)
    return FinishedRun(session.record_early_end(said), DeliveryResult())


def _work(
    session: RunSession,
    options: ResolveOptions,
    target: TextTarget | ThreadTarget,
    token_found_in: str,
) -> FinishedRun:
    finished: FinishedRun
    if isinstance(target, TextTarget):
        finished = resolve_local(session, target, options)
    else:
        log.debug("token_found", found_in=token_found_in)
        # PyGithub takes as long to load as all the rest.
        resolve_remote = load_handler("cli.remote_run", "resolve_remote")
        finished = resolve_remote(session, target, options, token_found_in)
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
