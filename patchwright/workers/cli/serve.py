"""`patchwright serve`: its options; `workers/serve.py` does what they say."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from patchwright.core.settings.environment import process_environment
from patchwright.workers.leaving import leave
from patchwright.workers.roles import Role

_SERVING: Final = "patchwright.workers.serve"


def register(app: typer.Typer) -> None:
    app.command("serve")(_serve)


def _serve(
    role: Annotated[Role, typer.Option(help="Which part of it.")] = Role.ALL,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
