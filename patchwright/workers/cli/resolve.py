"""`patchwright resolve`: its options; `working` does what they say."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from patchwright.workers.cli.options import DeliveryChoice, ResolveOptions, SandboxKind

# Not imported before it is wanted: a shell that completes an option must not wait.
_RESOLVE_HANDLER: Final = "patchwright.workers.cli.working"


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
    work_on = cast("Callable[[Order], int]", import_module(_RESOLVE_HANDLER).work_on)
    raise typer.Exit(work_on(options))
