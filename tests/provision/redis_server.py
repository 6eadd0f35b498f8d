"""A Redis server of our own, with nothing on disk."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.provision.servers import free_port, running


@contextmanager
def redis_server(port: int | None = None) -> Iterator[str]:
    """Run `redis-server` on that loopback port, or on a free one; yields its URL."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="patchwright-redis-") as folder:
        argv = ["redis-server", "--bind", "127.0.0.1", "--port", str(port)]
        argv += ["--dir", folder, "--save", "", "--appendonly", "no"]
        with running(argv, log=Path(folder, "log"), answers=lambda: _answers(port)):
            yield f"redis://127.0.0.1:{port}/0"


def _answers(port: int) -> bool:
    with redis.Redis(host="127.0.0.1", port=port) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
