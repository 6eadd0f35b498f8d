"""`patchwright runs`: its commands; `tending` does what they say."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final, cast

import typer

from patchwright.core.types.work import OutcomeKind
from patchwright.workers.runs.stage import RunStage

_RUNS_HANDLER: Final = "patchwright.workers.cli.tending"
_KNOWN_IDS: Final = "patchwright.workers.runs.known_ids"


def _complete_id(incomplete: str) -> list[str]:
    find = cast("Callable[[str], list[str]]", import_module(_KNOWN_IDS).known_ids)
    return find(incomplete)


RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's id, or how it begins.",
        autocompletion=_complete_id,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]


def register_runs(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_runs)
    commands.command("list")(_runs_list)
    commands.command("show")(_runs_show)
    commands.command("stop")(_runs_stop)
    commands.command("retry")(_runs_retry)
    commands.command("export")(_runs_export)
    commands.command("bundle")(_runs_bundle)
    app.add_typer(commands, name="runs")


def _about_runs() -> None:
    """Look at the runs of the service and of this machine, and steer them."""


def _runs_list(
    *,
    state: Annotated[
        RunStage | None, typer.Option(help="Only runs that are so far.")
    ] = None,
    outcome: Annotated[
        OutcomeKind | None, typer.Option(help="Only runs that ended so.")
    ] = None,
    repo: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="Only runs in this repository.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most runs to list.")] = 20,
    json: AsJson = False,
) -> None:
    """List runs, the newest first: those of the service, and local ones."""
    _runs_handler().list_runs(state, outcome, repo, limit, as_object=json)


def _runs_show(
    run: RunId,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Watch it until it ends.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show what a run is, its steps, its evidence, and where its result is.

    With --follow the exit code is that of `resolve` for how the run ended.
    """
    raise typer.Exit(_runs_handler().show_run(run, follows=follow, as_object=json))


def _runs_stop(run: RunId, *, json: AsJson = False) -> None:
    """Stop a run; what it has done is kept as for a `stop` in its thread."""
    _runs_handler().stop_run(run, as_object=json)


def _runs_retry(run: RunId, *, json: AsJson = False) -> None:
    """Start a new run for the same request, answered where the first one was."""
    _runs_handler().retry_run(run, as_object=json)


def _runs_export(
    run: RunId,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this new file; standard output by default."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Write a run as a trajectory, without secrets, as `replay` reads it."""
    _runs_handler().export_run(run, out, as_object=json)


def _runs_bundle(
    run: RunId,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this new file; work-RUN.bundle by default."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Write what a run has made as a Git bundle, where no branch shows it.

    In a clone of the repository, `git fetch` takes the commit out of the file. It is
    as the agent left it: nobody has looked for secrets in it.
    """
    _runs_handler().bundle_run(run, out, as_object=json)


def _runs_handler() -> ModuleType:
    return import_module(_RUNS_HANDLER)
