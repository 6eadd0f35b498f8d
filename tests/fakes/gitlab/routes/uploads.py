"""Files that people drop into texts, through the API.

https://docs.gitlab.com/api/project_markdown_uploads/
"""

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.acts.uploads import upload
from tests.fakes.gitlab.call import Call, File, Route, paged
from tests.fakes.gitlab.exchange import Json, missing, not_found
from tests.fakes.gitlab.state import Level, Upload

UPLOADS = "/projects/{id}/uploads"


def create_upload(call: Call) -> Answer:
    project = call.project()
    call.user()
    file = call.body().get("file")
    if not isinstance(file, File):
        raise missing("file")
    made = upload(call.world, project, file.name, file.data)
    url = f"/uploads/{made.secret}/{made.name}"
    body: Json = {
        "id": made.id,
        "alt": made.name,
        "url": url,
        "full_path": f"/-/project/{project.id}{url}",
        "markdown": f"![{made.name}]({url})",
    }
    return Answer(status=201, body=body)


def list_uploads(call: Call) -> Answer:
    project = call.project(Level.MAINTAINER)
    found = [
        {"id": one.id, "size": len(one.data), "filename": one.name}
        for one in call.world.uploads.values()
        if one.project == project.id
    ]
    return paged(call, found)


def get_upload(call: Call) -> Answer:
    """Return the file to a member who shows a token."""
    project = call.project(Level.GUEST)
    found = find(call, project.id)
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f'attachment; filename="{found.name}"',
    }
    return Answer(status=200, body=found.data, headers=headers)


def find(call: Call, project: int) -> Upload:
    found = call.world.uploads.get(call.args["secret"])
    if found is None or (found.project, found.name) != (project, call.args["name"]):
        raise not_found()
    return found


ROUTES = (
    Route("GET", UPLOADS, list_uploads),
    Route("POST", UPLOADS, create_upload),
    Route("GET", UPLOADS + "/{secret}/{name}", get_upload),
)
