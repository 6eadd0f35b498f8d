"""How the web application is served."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, cast

import uvicorn
from fastapi import FastAPI

from patchwright.core.settings.addresses import is_in_networks
from patchwright.workers.web.connections import (
    Connections,
    TimedProtocol,
    TimedServer,
    most_connections,
    raise_file_limit,
)

# The sender of a webhook waits ten seconds; whoever runs us, mostly thirty.
_SHUTDOWN_S: Final = 15


def make_server(
    app: FastAPI,
    host: str,
    port: int,
    *,
    proxies: Sequence[str] = (),
    monotonic: Callable[[], float] = time.monotonic,
) -> uvicorn.Server:
    """Return a server; its `run` ends at SIGTERM or SIGINT, with everything stored.

    Only the `proxies`, addresses or networks, are believed when they say for whom they
    ask.
    """
    connections = Connections(
        most_connections(raise_file_limit()),
        monotonic,
        partial(is_in_networks, tuple(proxies)),
    )
    # Uvicorn calls it with the arguments of its own protocols.
    protocol = cast("type[PatientProtocol]", partial(TimedProtocol, connections))
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol,
        # A connection that becomes one of these is counted no more; we serve none.
        ws="none",
        forwarded_allow_ips=list(proxies),
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    return TimedServer(config, connections)
