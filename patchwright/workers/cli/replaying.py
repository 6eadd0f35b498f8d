"""Show a recorded run, or run it again, as `patchwright replay` is asked to."""

from pathlib import Path

import typer
from rich.console import Console

from patchwright.core.errors import SettingsError
from patchwright.core.trajectory.files import StoredRun, read_run, write_trajectory
from patchwright.core.trajectory.fold import tell_story
from patchwright.workers.cli.options import ReplayOptions
from patchwright.workers.cli.replay_json import step_as_json, story_as_json
from patchwright.workers.cli.replay_view import print_step, print_story
from patchwright.workers.cli.rerun import rerun_run


def run_replay(options: ReplayOptions) -> int:
    """Return the exit code; raises `SettingsError` for options that do not fit."""
    _check_replay_options(options)
    found = read_run(options.file, options.run)
    if options.export is not None:
        _export_run(found, options.export)
    if options.reruns:
        flags = {"sandbox.kind": options.sandbox.value if options.sandbox else None}
        repo = options.repo or Path()
        as_object = options.as_object
        return rerun_run(found, repo, flags, options.events, as_object=as_object)
    if options.step is not None:
        _show_step(found, options.step, as_object=options.as_object)
    elif options.as_object:
        typer.echo(story_as_json(tell_story(found.events)))
    elif options.export is None:
        print_story(Console(), tell_story(found.events))
    return 0


def _check_replay_options(options: ReplayOptions) -> None:
    if options.reruns and options.repo is None:
        raise SettingsError("--rerun needs --repo PATH, the repository it was run on")
    others = (options.repo, options.sandbox, options.events)
    if not options.reruns and any(option is not None for option in others):
        raise SettingsError("--repo, --sandbox and --events go with --rerun")


def _export_run(found: StoredRun, path: Path) -> None:
    try:
        write_trajectory(found.trajectory, path)
    except OSError as error:
        raise SettingsError(f"--export: {path}: {error.strerror}") from error


def _show_step(found: StoredRun, number: int, *, as_object: bool) -> None:
    story = tell_story(found.events)
    step = next((one for one in story.steps if one.number == number), None)
    if step is None:
        raise SettingsError(f"--step: the run has {len(story.steps)} steps")
    if as_object:
        typer.echo(step_as_json(step, found))
    else:
        print_step(Console(), step, found.events)
