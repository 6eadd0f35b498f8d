"""REST: single files and folders of a repository at a branch or commit."""

import base64
from urllib.parse import quote

from tests.fakes.github import bare
from tests.fakes.github.access import READ_CONTENTS
from tests.fakes.github.call import Call, Route
from tests.fakes.github.exchange import Answer, Json, RefusedError, not_found
from tests.fakes.github.state import Repo

# https://docs.github.com/rest/repos/contents#get-repository-content
LARGEST_SHOWN = 1_000_000
MODES = {"120000": "symlink", "160000": "submodule", "040000": "dir"}


def show_contents(call: Call) -> Answer:
    repo = call.repo(READ_CONTENTS)
    ref = call.request.query.get("ref") or repo.default_branch
    commit = bare.find_commit(repo.git, f"refs/heads/{ref}") or bare.find_commit(
        repo.git, ref
    )
    if commit is None:
        raise RefusedError(404, f"No commit found for the ref {ref}")
    path = call.args["path"].strip("/")
    for mode, sha, name in _tree(repo, commit, path):
        if name == path:
            return Answer(status=200, body=_shown(call, repo, (mode, sha, name)))
    raise not_found()


def _shown(call: Call, repo: Repo, entry: tuple[str, str, str]) -> Json | list[Json]:
    mode, sha, path = entry
    if MODES.get(mode) == "dir":
        listed = _tree(repo, sha, "")
        return [_entry(call, repo, (m, s, f"{path}/{n}")) for m, s, n in listed]
    shown = _entry(call, repo, entry)
    if MODES.get(mode) == "submodule":
        return shown | {"type": "submodule", "submodule_git_url": None}
    data = bare.git(repo.git, "cat-file", "blob", sha)
    if MODES.get(mode) == "symlink":
        return shown | {"type": "symlink", "target": data.decode()}
    is_shown = len(data) <= LARGEST_SHOWN
    content = base64.encodebytes(data).decode() if is_shown else ""
    encoding = "base64" if is_shown else "none"
    return shown | {"size": len(data), "content": content, "encoding": encoding}


def _tree(repo: Repo, treeish: str, path: str) -> list[tuple[str, str, str]]:
    """Return mode, object and name of what lies there."""
    chosen = ["--", path] if path else []
    listed = bare.git(repo.git, "ls-tree", "-z", treeish, *chosen).decode()
    entries = [line.partition("\t") for line in listed.split("\0") if line]
    return [(head.split()[0], head.split()[2], name) for head, _, name in entries]


def _entry(call: Call, repo: Repo, entry: tuple[str, str, str]) -> Json:
    mode, sha, path = entry
    url = f"{call.world.api_url}/repos/{repo.full_name}/contents/{quote(path)}"
    page = f"{call.world.web_url}/{repo.full_name}/blob/HEAD/{quote(path)}"
    return {
        "type": MODES.get(mode, "file"),
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": 0,
        "url": url,
        "html_url": page,
        "git_url": f"{call.world.api_url}/repos/{repo.full_name}/git/blobs/{sha}",
        "download_url": None,
        "_links": {"self": url, "html": page, "git": None},
    }


ROUTES = (Route("GET", "/repos/{owner}/{repo}/contents/{path}", show_contents),)
