"""Where GitHub keeps logs: a store behind signed addresses that knows no tokens."""

import hmac
import re

from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.github.state import World

ADDRESS = re.compile(r"/signed-logs/(?P<job>\d+)")
TEXT = {"Content-Type": "text/plain"}


def log_address(world: World, job: int) -> str:
    return f"{world.web_url}/signed-logs/{job}?sig={_signature(world, job)}"


def is_log(path: str) -> bool:
    return ADDRESS.fullmatch(path) is not None


def serve(world: World, request: Request) -> Wire:
    """Give the log to whoever has its address; a token beside it is refused."""
    match = ADDRESS.fullmatch(request.path)
    job = int(match["job"]) if match else 0
    with world.lock:
        log = world.builds.logs.get(job)
    if log is None or request.query.get("sig") != _signature(world, job):
        return Wire(404, TEXT, b"BlobNotFound")
    if "authorization" in request.headers:
        return Wire(400, TEXT, b"InvalidAuthenticationInfo")
    return Wire(200, TEXT, log.encode())


def _signature(world: World, job: int) -> str:
    # The folder is made anew for each world, under a name that nobody can guess.
    key = str(world.folder).encode()
    return hmac.digest(key, str(job).encode(), "sha256").hex()
