"""Take files from the host and give them to it, in pieces."""

from __future__ import annotations

import base64
import os

from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.wire import CHUNK, Reply, ServerRequest


def upload(places: WorkspacePaths, request: ServerRequest) -> Reply:
    """Write one piece at its offset; the first piece empties the file."""
    path = places.in_workspace(request.text("path"))
    offset = request.whole("offset", 0)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(base64.b64decode(request.text("data")))
    return {"kind": "stored"}


def download(places: WorkspacePaths, request: ServerRequest) -> Reply:
    path = places.in_workspace(request.text("path"))
    if not os.path.isfile(path):
        raise ActionError("not-found", f"there is no file {request.text('path')}")
    with open(path, "rb") as file:
        file.seek(request.whole("offset", 0))
        data = file.read(CHUNK)
        size = os.fstat(file.fileno()).st_size
    return {"kind": "piece", "data": base64.b64encode(data).decode(), "size": size}
