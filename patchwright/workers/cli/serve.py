"""`patchwright serve`."""

from pathlib import Path
from typing import Annotated

import typer

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.workers.serve import Role, serve
from patchwright.workers.stopping import leave


def register(app: typer.Typer) -> None:
    app.command("serve")(_serve)


def _serve(
    role: Annotated[Role, typer.Option(help="Which part of it.")] = Role.ALL,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
    flags = {"server.host": host, "server.port": port}
    settings = load(process_environment(), flags=flags, cwd=Path.cwd())
    leave(serve(settings, role))
