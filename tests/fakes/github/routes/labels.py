"""REST: the labels that a repository has."""

from tests.fakes.github.access import READ_ISSUE, Need
from tests.fakes.github.call import Call, Route
from tests.fakes.github.exchange import Answer, RefusedError, invalid
from tests.fakes.github.render.issues import label_json
from tests.fakes.github.state import Role

# To label takes the right to triage, to make a new label that to write.
# https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
WRITE_LABELS = Need(("issues", "pull_requests"), "write", Role.WRITE)


def show_label(call: Call) -> Answer:
    repo = call.repo(READ_ISSUE)
    name = call.args["name"]
    if (repo.full_name.lower(), name.lower()) not in call.world.labels:
        raise RefusedError(404, "Not Found")
    return Answer(status=200, body=label_json(call.world, repo.full_name, name))


def make_label(call: Call) -> Answer:
    repo = call.repo(WRITE_LABELS)
    wanted = call.request.json()
    name = str(wanted.get("name", ""))
    key = (repo.full_name.lower(), name.lower())
    if key in call.world.labels:
        raise invalid("Label", "already_exists", field="name")
    call.world.labels[key] = str(wanted.get("color", "ededed"))
    return Answer(status=201, body=label_json(call.world, repo.full_name, name))


LABELS = "/repos/{owner}/{repo}/labels"
ROUTES = (
    Route("POST", LABELS, make_label),
    Route("GET", f"{LABELS}/{{name}}", show_label),
)
