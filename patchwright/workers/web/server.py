"""How the web application is served."""

from typing import Final

import uvicorn
from fastapi import FastAPI

# The sender of a webhook waits ten seconds; whoever runs us, mostly thirty.
_SHUTDOWN_S: Final = 15


def make_server(app: FastAPI, host: str, port: int) -> uvicorn.Server:
    """Return a server; its `run` ends at SIGTERM or SIGINT, with everything stored."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    return uvicorn.Server(config)
