"""`patchwright replay`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from patchwright.core.errors import SettingsError
from patchwright.core.trajectory.files import Run, read, write
from patchwright.core.trajectory.fold import tell
from patchwright.workers.cli.options import SandboxKind
from patchwright.workers.cli.replay_json import step_as_json, story_as_json
from patchwright.workers.cli.replay_view import print_step, print_story
from patchwright.workers.cli.rerun import rerun_run

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

    With --rerun the exit code is 0 if all is the same, 1 if not, 2 for wrong usage,
    and 3 if it could not be run.
    """
    _check_options(rerun=rerun, repo=repo, others=(sandbox, events))
    found = read(file, run)
    if export is not None:
        _export(found, export)
    if rerun:
        flags = {"sandbox.kind": sandbox.value if sandbox else None}
        code = rerun_run(found, repo or Path(), flags, events, as_object=json)
        raise typer.Exit(code)
    if step is not None:
        _show_step(found, step, as_object=json)
    elif json:
        typer.echo(story_as_json(tell(found.events)))
    elif export is None:
        print_story(Console(), tell(found.events))


def _check_options(
    *, rerun: bool, repo: Path | None, others: tuple[object | None, ...]
) -> None:
    if rerun and repo is None:
        raise SettingsError("--rerun needs --repo PATH, the repository it was run on")
    if not rerun and any(option is not None for option in (repo, *others)):
        raise SettingsError("--repo, --sandbox and --events go with --rerun")


def _export(found: Run, path: Path) -> None:
    try:
        write(found.trajectory, path)
    except OSError as error:
        raise SettingsError(f"--export: {path}: {error.strerror}") from error


def _show_step(found: Run, number: int, *, as_object: bool) -> None:
    story = tell(found.events)
    step = next((one for one in story.steps if one.number == number), None)
    if step is None:
        raise SettingsError(f"--step: the run has {len(story.steps)} steps")
    if as_object:
        typer.echo(step_as_json(step, found))
    else:
        print_step(Console(), step, found.events)
