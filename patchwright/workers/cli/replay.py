"""`patchwright replay`: its options; `replaying` does what they say."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from patchwright.workers.cli.options import Playback, SandboxKind

_REPLAYING: Final = "patchwright.workers.cli.replaying"

File = Annotated[Path, typer.Argument(help="A log of events, or a trajectory.")]
RunId = Annotated[
    str | None, typer.Option("--run", help="Which run of the log: how its id begins.")
]
StepNumber = Annotated[
    int | None, typer.Option("--step", min=1, help="Show this step in full.")
]
Export = Annotated[
    Path | None, typer.Option(help="Write the run to this new file, as a trajectory.")
]
Again = Annotated[
    bool, typer.Option("--rerun", help="Run it again and report differences.")
]
Repo = Annotated[
    Path | None, typer.Option(help="With --rerun: the repository it was run on.")
]
Sandbox = Annotated[
    SandboxKind | None, typer.Option(help="With --rerun: where commands run.")
]
Events = Annotated[
    Path | None, typer.Option(help="With --rerun: write its events to this new file.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]


def register(app: typer.Typer) -> None:
    app.command("replay")(_replay)


def _replay(
    file: File,
    *,
    run: RunId = None,
    step: StepNumber = None,
    export: Export = None,
    rerun: Again = False,
    repo: Repo = None,
    sandbox: Sandbox = None,
    events: Events = None,
    json: AsJson = False,
) -> None:
    """Show a recorded run, or run it again: offline, and at no cost.

    With --rerun the exit code is 0 if all is the same, 1 if not, 2 for wrong
    usage, and 3 if it could not be run.
    """
    options = Playback(
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
    play = cast("Callable[[Playback], int]", import_module(_REPLAYING).play)
    raise typer.Exit(play(options))
