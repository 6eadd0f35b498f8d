"""`patchwright doctor`: its options; `examining` does what they say."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Final, cast

import typer

_DOCTOR_HANDLER: Final = "patchwright.workers.cli.examining"


def register_doctor(app: typer.Typer) -> None:
    app.command("doctor")(_doctor)


def _doctor(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="This check, or all of a service; repeat."),
    ] = None,
    spend: Annotated[
        bool, typer.Option("--spend", help="Ask the model one thing, for real.")
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Check what the service needs, and say how to put right what is wrong."""
    examined = cast("Callable[..., int]", import_module(_DOCTOR_HANDLER).examined)
    sys.exit(examined(only or [], spends=spend, as_object=json_output))
