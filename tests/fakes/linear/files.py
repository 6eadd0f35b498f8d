"""Uploaded files: people put them into texts, and nobody reads them without a key.

https://linear.app/developers/file-storage-authentication
"""

import re

from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.linear.auth import Caller, identify
from tests.fakes.linear.exchange import Json, RefusedError, invalid
from tests.fakes.linear.state import File, User, World

MAX_BYTES = 50_000_000
_FILE = re.compile(r"/uploads/(?P<workspace>[\w-]+)/(?P<id>[\w-]+)/(?P<part>[\w-]+)")


def is_file(request: Request) -> bool:
    return _FILE.fullmatch(request.path) is not None


def keep(world: World, user: User, file: tuple[str, str, bytes]) -> str:
    """Keep a file of a name, a type and bytes; return its address."""
    name, content_type, data = file
    path = f"/uploads/{user.workspace}/{world.new_id()}/{world.new_id()}"
    world.files[path] = File(
        workspace=user.workspace, name=name, content_type=content_type, data=data
    )
    return f"{world.url}{path}"


def serve(world: World, request: Request) -> Wire:
    """Give a file to whoever belongs to its workspace, or take one that was announced.

    Which files there are, is not told to strangers.
    """
    found = world.files.get(request.path)
    if request.method == "PUT":
        return _take(world, request, found)
    try:
        caller = identify(world, request)
    except RefusedError:
        return Wire(401, {}, b"Unauthorized")
    if found is None or found.workspace != caller.user.workspace or not found.data:
        return Wire(404, {}, b"Not Found")
    return Wire(200, {"Content-Type": found.content_type}, found.data)


def _take(world: World, request: Request, announced: File | None) -> Wire:
    if announced is None or announced.data:
        return Wire(403, {}, b"AccessDenied")
    if request.headers.get("content-type") != announced.content_type:
        return Wire(403, {}, b"SignatureDoesNotMatch")
    world.files[request.path] = File(
        workspace=announced.workspace,
        name=announced.name,
        content_type=announced.content_type,
        data=request.body,
    )
    return Wire(200, {}, b"")


def announce(world: World, caller: Caller, args: Json) -> Json:
    """Answer `fileUpload`: where a file may be put, and how."""
    caller.need("write")
    if not 0 < args["size"] <= MAX_BYTES:
        raise invalid("size", f"it must be at most {MAX_BYTES} bytes")
    facts = (args["filename"], args["contentType"], b"")
    address = keep(world, caller.user, facts)
    shown = {
        "assetUrl": address,
        "uploadUrl": address,
        "contentType": args["contentType"],
        "filename": args["filename"],
        "size": args["size"],
        "headers": [{"key": "cache-control", "value": "public, max-age=31536000"}],
        "metaData": args.get("metaData"),
    }
    return {"uploadFile": shown}
