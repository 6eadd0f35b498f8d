"""`patchwright serve`: its options; `serving` does what they say."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Final, cast

import typer

from patchwright.workers.leaving import exit_now
from patchwright.workers.roles import Role

_SERVE_HANDLER: Final = "patchwright.workers.cli.serving"


def register_serve(app: typer.Typer) -> None:
    app.command("serve")(_serve)


def _serve(
    role: Annotated[Role, typer.Option(help="Which part of it.")] = Role.ALL,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
    flags = {"server.host": host, "server.port": port}
    serve_as = cast(
        "Callable[[Role, Mapping[str, object]], int]",
        import_module(_SERVE_HANDLER).serve_as,
    )
    exit_now(serve_as(role, flags))
