"""`patchwright resolve`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, cast

import structlog
import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.messages.status import Delivered
from patchwright.workers.cli.local import resolve_local
from patchwright.workers.cli.options import Deliver, SandboxKind
from patchwright.workers.cli.report import (
    as_json,
    exit_code,
    failed,
    print_result,
)
from patchwright.workers.cli.session import Finished, Session, open_session

# Imported when a URL is given: loading PyGithub takes as long as all the rest here.
_REMOTE: Final = "patchwright.workers.cli.remote"

log = structlog.get_logger(__name__)


def register(app: typer.Typer) -> None:
    app.command("resolve")(_resolve)


def _resolve(
    url: Annotated[
        str | None, typer.Argument(help="URL of an issue or pull request.")
    ] = None,
    *,
    repo: Annotated[
        Path | None, typer.Option(help="A repository on this machine.")
    ] = None,
    issue: Annotated[
        Path | None, typer.Option(help="With --repo: a file that says what is wrong.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Name as litellm spells it: provider/model.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Most that the run may cost, in USD.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Most model calls of the run.")
    ] = None,
    sandbox: Annotated[
        SandboxKind | None, typer.Option(help="Where commands run.")
    ] = None,
    deliver: Annotated[
        Deliver | None,
        typer.Option(
            help="What is made of the change; by default a branch in a local "
            "repository, and a draft pull request for a URL."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    events: Annotated[
        Path | None, typer.Option(help="Write the run's events to this new file.")
    ] = None,
) -> None:
    """Work on an issue, given by its URL or as a text file."""
    flags = {
        "llm.model": model,
        "limits.max_cost_usd": max_cost,
        "limits.max_iterations": max_iterations,
        "sandbox.kind": sandbox.value if sandbox else None,
    }
    with _told_in_any_case(as_object=json):
        _check_source(url, repo, issue)
        settings = load(process_environment(), flags=flags, cwd=Path.cwd())
        with open_session(settings, events, quiet=json) as session:
            finished = _work(session, url, repo, issue, deliver)
            _report(session, finished, as_object=json)
    raise typer.Exit(exit_code(finished.outcome))


@contextmanager
def _told_in_any_case(*, as_object: bool) -> Iterator[None]:
    """Print the one object for a run that could not even begin; its error goes on."""
    try:
        yield
    except PatchwrightError as error:
        if as_object:
            typer.echo(as_json(failed(error), Delivered()))
        raise


def _check_source(url: str | None, repo: Path | None, issue: Path | None) -> None:
    if url is not None and repo is None and issue is None:
        return
    if url is None and repo is not None and issue is not None:
        return
    raise SettingsError(
        "say what to work on: either the URL of an issue, or --repo PATH and "
        "--issue FILE"
    )


def _work(
    session: Session,
    url: str | None,
    repo: Path | None,
    issue: Path | None,
    deliver: Deliver | None,
) -> Finished:
    """Work; a service that fails before the run has begun is an outcome as well."""
    try:
        if url is not None:
            return _resolve_remote()(session, url, deliver or Deliver.DRAFT)
        return resolve_local(
            session, repo or Path(), issue or Path(), deliver or Deliver.BRANCH
        )
    except SettingsError:
        raise
    except KeyboardInterrupt as told:
        said = Outcome(
            kind=OutcomeKind.STOPPED, reason="asked", summary=f"Stopped by {told}."
        )
    except PatchwrightError as error:
        said = failed(error)
    except Exception:  # the edge of a run: whatever broke, its caller is told
        log.exception("run_broke")
        text = "Something broke inside Patchwright; standard error has the details."
        said = Outcome(kind=OutcomeKind.FAILED, reason="internal", summary=text)
    return Finished(session.broken_off(said), Delivered())


def _resolve_remote() -> Callable[[Session, str, Deliver], Finished]:
    resolve = import_module(_REMOTE).resolve_remote
    return cast("Callable[[Session, str, Deliver], Finished]", resolve)


def _report(session: Session, finished: Finished, *, as_object: bool) -> None:
    outcome, delivered = finished.outcome, finished.delivered
    clean = session.redactor.redact
    outcome = outcome.model_copy(update={"summary": clean(outcome.summary)})
    if as_object:
        typer.echo(as_json(outcome, delivered, session.run_id, session.events))
        return
    print_result(Console(), outcome, delivered)
    session.console.print(
        Text(f"events: {session.events}", style="dim"), soft_wrap=True
    )
