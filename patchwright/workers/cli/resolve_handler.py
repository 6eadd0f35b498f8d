"""Check what `patchwright resolve` is asked for, before what carries it out loads.

A person who forgot a key waits for neither the sandboxes nor the proof.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from patchwright.core.settings.environment import process_environment
from patchwright.core.types.errors import PatchwrightError, SettingsError
from patchwright.workers.cli.commands import load_handler
from patchwright.workers.cli.forge_token import FoundToken, find_forge_token
from patchwright.workers.cli.resolve_command import DeliveryChoice, ResolveOptions
from patchwright.workers.cli.target import (
    Target,
    TextTarget,
    ThreadTarget,
    choose_forge,
    locate_thread,
    read_target,
)
from patchwright.workers.cli.terminal import load_command_settings, print_warning
from patchwright.workers.preflight import require_ready


def run_resolve(options: ResolveOptions) -> int:
    """Return the exit code; raises `SettingsError` for an order that makes no sense."""
    with _failure_as_json(options):
        target = read_target(options.target)
        _check_options(options, target)
        found, located = _locate(target, options)
        doubts = require_ready(found.settings)
        for line in () if options.is_silent else doubts:
            print_warning(line)
        carry_out = load_handler("cli.resolve_run", "carry_out")
        code: int = carry_out(found, options, located)
        return code


def _locate(
    target: Target, options: ResolveOptions
) -> tuple[FoundToken, TextTarget | ThreadTarget]:
    """Return what to work on, and the settings with the token that this needs."""
    settings = load_command_settings(options.flags, options.config)
    if isinstance(target, TextTarget):
        return FoundToken(settings, ""), target
    forge = choose_forge(target, settings)
    settings = settings.replace(forge=forge.name)
    thread = locate_thread(target, forge.describe(settings))
    return find_forge_token(forge, settings, process_environment()), thread


@contextmanager
def _failure_as_json(options: ResolveOptions) -> Iterator[None]:
    """Print the one object for a run that could not even begin; its error goes on."""
    try:
        yield
    except PatchwrightError as error:
        if options.prints_json:
            typer.echo(load_handler("cli.report", "failure_as_json")(error, options))
        raise


def _check_options(options: ResolveOptions, target: Target) -> None:
    """Raise `SettingsError` for options that do not fit what is worked on."""
    if options.as_object and options.streams:
        raise SettingsError(
            "--json prints one object and --json-stream one a line: choose one of them"
        )
    if options.plans and (options.applies or options.deliver is not None):
        raise SettingsError(
            "--plan changes nothing: leave out --deliver and --apply, and use them "
            "when you carry the plan out"
        )
    if not isinstance(target, TextTarget):
        if options.applies:
            raise SettingsError(
                "--apply is for a task in a checkout; for an issue on the forge, fetch "
                "the branch of the pull request"
            )
        return
    if options.deliver in (DeliveryChoice.DRAFT, DeliveryChoice.READY):
        raise SettingsError(
            f"--deliver {options.deliver} opens a pull request and needs an issue on "
            "the forge; for a task in a checkout use branch, patch or none"
        )
