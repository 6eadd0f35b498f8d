"""The commands `resolve`, `replay` and `runs`, with their options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final, cast

import typer

from patchwright.core.types.work import OutcomeKind
from patchwright.workers.runs.selection import RunStage


class DeliveryChoice(StrEnum):
    """What is made of a change. A pull request is ready only when it is proven."""

    NONE = "none"
    PATCH = "patch"
    BRANCH = "branch"
    DRAFT = "draft"
    READY = "ready"


class SandboxKind(StrEnum):
    AUTO = "auto"
    DOCKER = "docker"
    LOCAL = "local"


@dataclass(frozen=True)
class ResolveOptions:
    """What `resolve` is asked to do: `url`, `issue` and `task` say about what.

    `flags` are settings by their dotted names, None where one was not given. With
    `applies` the change comes into the work tree besides. `as_object` wants one JSON
    object, and `quiet` no words on the way.
    """

    url: str | None
    repo: Path | None
    issue: Path | None
    task: str | None
    deliver: DeliveryChoice | None
    flags: Mapping[str, object]
    events: Path | None
    applies: bool
    as_object: bool
    quiet: bool


@dataclass(frozen=True)
class ReplayOptions:
    """What `replay` is asked to show of a file, or with `reruns` to run again."""

    file: Path
    run: str | None
    step: int | None
    export: Path | None
    reruns: bool
    repo: Path | None
    sandbox: SandboxKind | None
    events: Path | None
    as_object: bool


# Not imported before it is wanted: a shell that completes an option must not wait.
_RESOLVE_HANDLER: Final = "patchwright.workers.cli.resolve_handler"


def register_resolve(app: typer.Typer) -> None:
    app.command("resolve")(_resolve)


def _resolve(
    url: Annotated[
        str | None, typer.Argument(help="URL of an issue or pull request.")
    ] = None,
    *,
    repo: Annotated[
        Path | None,
        typer.Option(help="A repository on this machine; by default the one here."),
    ] = None,
    issue: Annotated[
        Path | None,
        typer.Option(help="A file that says what is wrong; - is standard input."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What is to be done, in words.")
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
        DeliveryChoice | None,
        typer.Option(
            help="What is made of the change; by default a branch in a local "
            "repository, and a draft pull request for a URL."
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Bring the change into your work tree too, unless that would "
            "overwrite something.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show the result alone.")
    ] = False,
    events: Annotated[
        Path | None, typer.Option(help="Write the run's events to this new file.")
    ] = None,
) -> None:
    """Work on an issue, given by its URL, as a text file or in words.

    The exit code is 0 when it is resolved, answered or planned, 1 for any other
    end, 2 for wrong usage, and 3 if a service, the model or the sandbox failed.
    """
    options = ResolveOptions(
        url=url,
        repo=repo,
        issue=issue,
        task=task,
        deliver=deliver,
        flags={
            "llm.model": model,
            "limits.max_cost_usd": max_cost,
            "limits.max_iterations": max_iterations,
            "sandbox.kind": sandbox.value if sandbox else None,
        },
        events=events,
        applies=apply,
        as_object=json,
        quiet=quiet,
    )
    run_resolve = cast(
        "Callable[[ResolveOptions], int]", import_module(_RESOLVE_HANDLER).run_resolve
    )
    raise typer.Exit(run_resolve(options))


_REPLAY_HANDLER: Final = "patchwright.workers.cli.replay_handler"

ReplayFile = Annotated[Path, typer.Argument(help="A log of events, or a trajectory.")]
RunPrefix = Annotated[
    str | None, typer.Option("--run", help="Which run of the log: how its id begins.")
]
StepNumber = Annotated[
    int | None, typer.Option("--step", min=1, help="Show this step in full.")
]
ExportFile = Annotated[
    Path | None, typer.Option(help="Write the run to this new file, as a trajectory.")
]
RerunFlag = Annotated[
    bool, typer.Option("--rerun", help="Run it again and report differences.")
]
RerunRepo = Annotated[
    Path | None, typer.Option(help="With --rerun: the repository it was run on.")
]
RerunSandbox = Annotated[
    SandboxKind | None, typer.Option(help="With --rerun: where commands run.")
]
RerunEvents = Annotated[
    Path | None, typer.Option(help="With --rerun: write its events to this new file.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]


def register_replay(app: typer.Typer) -> None:
    app.command("replay")(_replay)


def _replay(
    file: ReplayFile,
    *,
    run: RunPrefix = None,
    step: StepNumber = None,
    export: ExportFile = None,
    rerun: RerunFlag = False,
    repo: RerunRepo = None,
    sandbox: RerunSandbox = None,
    events: RerunEvents = None,
    json: AsJson = False,
) -> None:
    """Show a recorded run, or run it again: offline, and at no cost.

    With --rerun the exit code is 0 if all is the same, 1 if not, 2 for wrong
    usage, and 3 if it could not be run.
    """
    options = ReplayOptions(
        file=file,
        run=run,
        step=step,
        export=export,
        reruns=rerun,
        repo=repo,
        sandbox=sandbox,
        events=events,
        as_object=json,
    )
    run_replay = cast(
        "Callable[[ReplayOptions], int]", import_module(_REPLAY_HANDLER).run_replay
    )
    raise typer.Exit(run_replay(options))


_RUNS_HANDLER: Final = "patchwright.workers.cli.runs_handler"
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
