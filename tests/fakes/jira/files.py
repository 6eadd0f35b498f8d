"""Attached files: the cloud sends who may see them to a host for files."""

import re

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.jira.auth import identify
from tests.fakes.jira.state import Attachment, World

_CLOUD = re.compile(r"/rest/api/[23]/attachment/content/(\d+)")
_DATA_CENTER = re.compile(r"/secure/attachment/(\d+)/[^/]+")
_MEDIA = re.compile(r"/file/(\d+)/binary")


def serve(world: World, request: Request) -> Wire | None:
    """Answer for a file; None if the request is about something else."""
    pattern = _CLOUD if world.is_cloud else _DATA_CENTER
    match = pattern.fullmatch(request.path)
    if match is None:
        return None
    caller, found = identify(world, request), _find(world, match[1])
    if not world.is_cloud and caller is None:
        return Wire(302, {"Location": f"{world.base_url}/login.jsp"}, b"")
    if found is None or caller is None or not _may_see(world, request, found):
        words = f"The attachment with id '{match[1]}' does not exist"
        return wire(Answer(status=404, body={"errorMessages": [words]}))
    if not world.is_cloud:
        return Wire(200, {"Content-Type": found.mime_type}, found.data)
    address = f"{world.media_url}/file/{found.id}/binary?token=short-lived"
    return Wire(303, {"Location": address}, b"")


def serve_media(world: World, request: Request) -> Wire:
    """Answer as the host for files, which takes nobody's credential."""
    match = _MEDIA.fullmatch(request.path)
    found = _find(world, match[1]) if match else None
    if "authorization" in request.headers or "cookie" in request.headers:
        return Wire(400, {}, b"only one kind of authentication is allowed")
    if found is None or request.query.get("token") != "short-lived":
        return Wire(404, {}, b"")
    return Wire(200, {"Content-Type": found.mime_type}, found.data)


def wire(answer: Answer) -> Wire:
    if isinstance(answer.body, str):
        headers = {"Content-Type": "text/html;charset=UTF-8", **answer.headers}
        return Wire(answer.status, headers, answer.body.encode())
    headers = {"Content-Type": "application/json;charset=UTF-8", **answer.headers}
    return Wire(answer.status, headers, json_bytes(answer.body))


def _find(world: World, file_id: str) -> Attachment | None:
    files = (one for issue in world.issues.values() for one in issue.attachments)
    return next((one for one in files if one.id == file_id), None)


def _may_see(world: World, request: Request, file: Attachment) -> bool:
    caller = identify(world, request)
    issue = next(one for one in world.issues.values() if file in one.attachments)
    return caller is not None and world.may_see(caller, issue)
