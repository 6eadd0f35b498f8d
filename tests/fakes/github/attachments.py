"""Uploads over HTTP: by their own address, and by one that is signed.

On github.com the two are on hosts of their own; here all is on one.
"""

import re

from tests.fakes.github.auth import CallerKind
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.github.state import World

SIGNATURE = "signed-for-five-minutes"
_UPLOAD = re.compile(r"/user-attachments/assets/(?P<id>[0-9a-f-]{36})")
_STORED = re.compile(r"/private-user-images/1/(?P<id>[0-9a-f-]{36})\.png")
_ELSEWHERE = "/sent-elsewhere"


def is_attachment(path: str) -> bool:
    return path == _ELSEWHERE or bool(_UPLOAD.match(path) or _STORED.match(path))


def signed_address(world: World, upload_id: str) -> str:
    return f"{world.web_url}/private-user-images/1/{upload_id}.png?jwt={SIGNATURE}"


def serve(world: World, request: Request) -> tuple[Wire, CallerKind]:
    """Answer, and say whether a credential came along."""
    has_token = "authorization" in request.headers
    caller = CallerKind.PERSONAL if has_token else CallerKind.ANONYMOUS
    with world.lock:
        return _answer(world, request), caller


def _answer(world: World, request: Request) -> Wire:
    if request.path == _ELSEWHERE:
        # The same server by a name that is not its own.
        target = world.web_url.replace("127.0.0.1", "localhost")
        return Wire(302, {"Location": f"{target}{_ELSEWHERE}"}, b"")
    stored = _STORED.match(request.path)
    if stored is not None:
        signed = request.query.get("jwt") == SIGNATURE
        found = world.attachments.get(stored["id"]) if signed else None
        return Wire(200, {}, found.data) if found else _not_found()
    upload = _UPLOAD.match(request.path)
    attachment = world.attachments.get(upload["id"]) if upload else None
    # No token opens what was uploaded to a private repository.
    if attachment is None or world.repo(attachment.repo).private:
        return _not_found()
    return Wire(302, {"Location": signed_address(world, attachment.id)}, b"")


def _not_found() -> Wire:
    return Wire(404, {}, b"Not Found")
