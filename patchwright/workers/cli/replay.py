"""`patchwright replay`: its options; `replaying` does what they say."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from patchwright.workers.cli.options import ReplayOptions, SandboxKind

_REPLAY_HANDLER: Final = "patchwright.workers.cli.replaying"

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
    play = cast("Callable[[Playback], int]", import_module(_REPLAY_HANDLER).play)
    raise typer.Exit(play(options))
