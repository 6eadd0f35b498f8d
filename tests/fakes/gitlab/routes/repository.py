"""Branches, commits and files."""

import base64
import hashlib

from tests.fakes.github import bare
from tests.fakes.github.comparison import (
    changed_files,
    commit_of,
    commits_between,
)
from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import level_of, reads_code
from tests.fakes.gitlab.acts import projects
from tests.fakes.gitlab.acts.follow import follow_pushes
from tests.fakes.gitlab.call import Call, Route, paged
from tests.fakes.gitlab.diffs import diff_json, merge_base
from tests.fakes.gitlab.exchange import (
    Json,
    forbidden,
    missing,
    not_found,
    refused,
)
from tests.fakes.gitlab.refs import list_branches, resolve
from tests.fakes.gitlab.render.builds import pipeline_json
from tests.fakes.gitlab.render.projects import branch_json, commit_json, protected_json
from tests.fakes.gitlab.render.threads import thread_json
from tests.fakes.gitlab.state import Level, Project
from tests.fakes.gitlab.thread_state import ThreadKind

REPO = "/projects/{id}/repository"
FILE = REPO + "/files/{path}"
NEWEST = 200


def list_all_branches(call: Call) -> Answer:
    project = _readable(call)
    wanted = call.request.query.get("search", "")
    level = level_of(call.world, project, call.caller.user)
    found = [
        branch_json(call.world, project, name, level)
        for name in list_branches(project.git)
        if wanted in name
    ]
    return paged(call, found)


def get_branch(call: Call) -> Answer:
    project = _readable(call)
    name = call.args["branch"]
    if bare.find_commit(project.git, f"refs/heads/{name}") is None:
        raise not_found("Branch Not Found")
    level = level_of(call.world, project, call.caller.user)
    return Answer(status=200, body=branch_json(call.world, project, name, level))


def create_branch(call: Call) -> Answer:
    project = call.project(Level.DEVELOPER)
    asked = {**call.request.query, **call.body()}
    for one in ("branch", "ref"):
        if one not in asked:
            raise missing(one)
    name = str(asked["branch"])
    sha = resolve(project.git, str(asked["ref"]))
    if bare.find_commit(project.git, f"refs/heads/{name}"):
        raise refused(400, "Branch already exists")
    if sha is None:
        raise refused(400, "Invalid reference name: " + str(asked["ref"]))
    bare.git(project.git, "update-ref", f"refs/heads/{name}", sha)
    follow_pushes(call.world, project, call.user().id)
    level = level_of(call.world, project, call.user())
    return Answer(status=201, body=branch_json(call.world, project, name, level))


def delete_branch(call: Call) -> Answer:
    project = call.project(Level.DEVELOPER)
    name, user = call.args["branch"], call.user()
    projects.delete_branch(call.world, project, name, actor=user.id)
    return Answer(status=204)


def list_protected(call: Call) -> Answer:
    project = call.project(Level.DEVELOPER)
    return paged(call, [protected_json(project, name) for name in project.protected])


def get_protected(call: Call) -> Answer:
    project = call.project(Level.DEVELOPER)
    if call.args["branch"] not in project.protected:
        raise not_found()
    return Answer(status=200, body=protected_json(project, call.args["branch"]))


def list_commits(call: Call) -> Answer:
    """List commits, the newest first; `ref_name` may be a range."""
    project = _readable(call)
    name = call.request.query.get("ref_name") or project.default_branch
    sha = resolve(project.git, name)
    if sha is None:
        raise not_found("Tree Not Found")
    path = call.request.query.get("path")
    limits = ("--", path) if path else ()
    listed = bare.git(project.git, "rev-list", f"-{NEWEST}", sha, *limits)
    found = [
        commit_json(call.world, project, commit_of(project.git, one))
        for one in listed.decode().split()
    ]
    return paged(call, found)


def get_commit(call: Call) -> Answer:
    project, sha = _commit(call)
    commit = commit_of(project.git, sha)
    shown = commit_json(call.world, project, commit)
    pipeline = call.world.builds.newest_for(project.id, sha)
    status = call.world.builds.status_of(pipeline) if pipeline else None
    parent = commit.parents[0] if commit.parents else None
    files = changed_files(project.git, parent, sha) if parent else []
    added, gone = (
        sum(one.additions for one in files),
        sum(one.deletions for one in files),
    )
    body = {
        **shown,
        "stats": {"additions": added, "deletions": gone, "total": added + gone},
        "status": status,
        "project_id": project.id,
        "last_pipeline": pipeline_json(call.world, pipeline) if pipeline else None,
    }
    return Answer(status=200, body=body)


def get_commit_diff(call: Call) -> Answer:
    project, sha = _commit(call)
    parents = commit_of(project.git, sha).parents
    files = changed_files(project.git, parents[0], sha) if parents else []
    return paged(call, [diff_json(one) for one in files])


def list_commit_merges(call: Call) -> Answer:
    """List the merge requests that have the commit."""
    project, sha = _commit(call)
    found = [
        thread_json(call.world, one)
        for one in call.world.threads_of(project.id, ThreadKind.MERGE_REQUEST)
        if (tip := bare.find_commit(project.git, one.head_ref))
        and merge_base(project.git, tip, sha) == sha
    ]
    return paged(call, found)


def compare(call: Call) -> Answer:
    """Compare what one commit has done since it left another.

    https://docs.gitlab.com/api/repositories/#compare-branches-tags-or-commits
    """
    project = _readable(call)
    query = call.request.query
    base, head = (resolve(project.git, query.get(one, "")) for one in ("from", "to"))
    if base is None or head is None:
        raise not_found("Ref Not Found")
    commits = commits_between(project.git, base, head)
    files = changed_files(project.git, base, head)
    shown = [commit_json(call.world, project, one) for one in commits]
    body: Json = {
        "commit": shown[-1] if shown else None,
        "commits": shown,
        "diffs": [diff_json(one) for one in files],
        "compare_timeout": False,
        "compare_same_ref": base == head,
        "web_url": f"{call.world.base_url}/{project.path}/-/compare/{base}...{head}",
    }
    return Answer(status=200, body=body)


def get_merge_base(call: Call) -> Answer:
    project = _readable(call)
    names = [
        value for name, value in call.request.query.items() if name.startswith("refs")
    ]
    found = [resolve(project.git, one) for one in names]
    first, second = (found * 2)[:2] if found else (None, None)
    base = merge_base(project.git, first, second) if first and second else None
    if base is None:
        raise not_found("Merge Base Not Found")
    commit = commit_of(project.git, base)
    return Answer(status=200, body=commit_json(call.world, project, commit))


def get_file(call: Call) -> Answer:
    project, sha, data = _file(call)
    path = call.args["path"]
    blob = bare.git(project.git, "rev-parse", f"{sha}:{path}").decode().strip()
    last = bare.git(project.git, "rev-list", "-1", sha, "--", path).decode().strip()
    body = {
        "file_name": path.split("/")[-1],
        "file_path": path,
        "size": len(data),
        "encoding": "base64",
        "content_sha256": hashlib.sha256(data).hexdigest(),
        "ref": _ref(call, project),
        "blob_id": blob,
        "commit_id": sha,
        "last_commit_id": last,
        "execute_filemode": False,
        "content": base64.b64encode(data).decode(),
    }
    return Answer(status=200, body=body)


def get_raw_file(call: Call) -> Answer:
    _, _, data = _file(call)
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Answer(status=200, body=data, headers=headers)


def list_tree(call: Call) -> Answer:
    project = _readable(call)
    sha = resolve(project.git, _ref(call, project))
    path = call.request.query.get("path", "")
    if sha is None:
        raise not_found("Tree Not Found")
    within = (f"{path.rstrip('/')}/",) if path else ()
    deep = ("-r", "-t") if call.flag("recursive") else ()
    listed = bare.git(project.git, "ls-tree", "-z", *deep, sha, *within)
    found = []
    for line in listed.decode().split("\0")[:-1]:
        facts, _, name = line.partition("\t")
        mode, kind, blob = facts.split()
        found.append(
            {
                "id": blob,
                "name": name.split("/")[-1],
                "type": kind,
                "path": name,
                "mode": mode,
            }
        )
    return paged(call, found)


def _file(call: Call) -> tuple[Project, str, bytes]:
    project = _readable(call)
    sha = resolve(project.git, _ref(call, project))
    if sha is None:
        raise not_found("Commit Not Found")
    path = call.args["path"]
    listed = bare.git(project.git, "ls-tree", "-z", sha, "--", path)
    if b" blob " not in listed:
        raise not_found("File Not Found")
    return project, sha, bare.git(project.git, "cat-file", "blob", f"{sha}:{path}")


def _ref(call: Call, project: Project) -> str:
    return call.request.query.get("ref") or project.default_branch


def _commit(call: Call) -> tuple[Project, str]:
    project = _readable(call)
    sha = resolve(project.git, call.args["sha"])
    if sha is None:
        raise not_found("Commit Not Found")
    return project, sha


def _readable(call: Call) -> Project:
    project = call.project()
    if not reads_code(call.world, project, call.caller.user):
        raise forbidden()
    return project


ROUTES = (
    Route("GET", REPO + "/branches", list_all_branches),
    Route("POST", REPO + "/branches", create_branch),
    Route("GET", REPO + "/branches/{branch}", get_branch),
    Route("DELETE", REPO + "/branches/{branch}", delete_branch),
    Route("GET", "/projects/{id}/protected_branches", list_protected),
    Route("GET", "/projects/{id}/protected_branches/{branch}", get_protected),
    Route("GET", REPO + "/commits", list_commits),
    Route("GET", REPO + "/commits/{sha}", get_commit),
    Route("GET", REPO + "/commits/{sha}/diff", get_commit_diff),
    Route("GET", REPO + "/commits/{sha}/merge_requests", list_commit_merges),
    Route("GET", REPO + "/compare", compare),
    Route("GET", REPO + "/merge_base", get_merge_base),
    Route("GET", REPO + "/tree", list_tree),
    Route("GET", FILE, get_file),
    Route("GET", FILE + "/raw", get_raw_file),
)
