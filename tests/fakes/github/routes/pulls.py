"""REST: pull requests, their files, commits and review comments."""

from tests.fakes.github.access import (
    READ_PULL,
    WRITE_PULL,
    Need,
    grant_of,
    require,
)
from tests.fakes.github.acts import pulls, threads
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer, RefusedError
from tests.fakes.github.render.pulls import (
    file_json,
    head_sha,
    pull_commits_json,
    pull_files,
    pull_json,
    pull_summary_json,
)
from tests.fakes.github.state import Issue, Repo, Role

EDIT_ANY = Need(("pull_requests",), "write", Role.WRITE)


def list_pulls(call: Call) -> Answer:
    """List newest first; `head` is `owner:branch`, and without an owner ignored."""
    repo = call.repo(READ_PULL)
    found = [
        pull_summary_json(call.world, issue)
        for issue in reversed(call.world.issues_of(repo.full_name))
        if _is_wanted(call, issue)
    ]
    return paged(call, found)


def open_pull(call: Call) -> Answer:
    repo = call.repo(WRITE_PULL)
    if call.caller.kind is CallerKind.ACTIONS and not call.world.actions_may_open_pulls:
        raise RefusedError(
            403,
            "GitHub Actions is not permitted to create or approve pull requests.",
        )
    proposal = _proposal(call)
    _require_head(call, repo, proposal)
    issue = pulls.open_pull(
        call.world, repo, proposal, author=call.actor(), app_slug=call.app_slug()
    )
    shown = pull_json(call.world, issue)
    return Answer(status=201, body=shown, headers={"Location": shown["url"]})


def show_pull(call: Call) -> Answer:
    return Answer(status=200, body=pull_json(call.world, call.pull(READ_PULL)))


def edit_pull(call: Call) -> Answer:
    issue = call.pull(WRITE_PULL)
    if issue.author != call.actor():
        call.pull(EDIT_ANY)
    wanted = call.request.json()
    issue = pulls.retarget(call.world, call.repo(), issue, wanted)
    texts = {name: wanted.get(name) for name in ("title", "body")}
    issue = threads.edit_issue(call.world, issue, actor=call.actor(), **texts)
    if "state" in wanted:
        is_open = wanted["state"] == "open"
        issue = threads.set_open(call.world, issue, actor=call.actor(), is_open=is_open)
    return Answer(status=200, body=pull_json(call.world, issue))


def list_files(call: Call) -> Answer:
    issue = call.pull(READ_PULL)
    head = head_sha(call.world, issue)
    files = pull_files(call.world, issue)
    return paged(call, [file_json(call.world, issue, f, head) for f in files])


def list_commits(call: Call) -> Answer:
    return paged(call, pull_commits_json(call.world, call.pull(READ_PULL)))


def list_review_comments(call: Call) -> Answer:
    """Nobody reviews here yet."""
    call.pull(READ_PULL)
    return paged(call, [])


def _is_wanted(call: Call, issue: Issue) -> bool:
    if issue.pull is None:
        return False
    query = call.request.query
    state = query.get("state", "open")
    owner = issue.pull.head_repo.partition("/")[0]
    label = f"{owner}:{issue.pull.head_branch}"
    head = query.get("head", "")
    return (
        (state == "all" or issue.is_open == (state == "open"))
        and (":" not in head or head.lower() == label.lower())
        and query.get("base", issue.pull.base_branch) == issue.pull.base_branch
    )


def _proposal(call: Call) -> pulls.Proposal:
    wanted = call.request.json()
    missing = [name for name in ("head", "base") if not wanted.get(name)]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise RefusedError(422, f"Invalid request.\n\n{names} wasn't supplied.", [])
    return pulls.Proposal(
        title=str(wanted.get("title") or ""),
        head=wanted["head"],
        base=wanted["base"],
        body=wanted.get("body"),
        draft=bool(wanted.get("draft", False)),
        maintainer_can_modify=bool(wanted.get("maintainer_can_modify", True)),
    )


def _require_head(call: Call, repo: Repo, proposal: pulls.Proposal) -> None:
    """People open pull requests from where they may push."""
    found = pulls.find_head(call.world, repo, proposal.head)
    if call.caller.kind is not CallerKind.PERSONAL or found is None:
        return
    if grant_of(found[0], call.actor()).role < Role.WRITE:
        require(call.caller, repo, EDIT_ANY)


PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
ROUTES = (
    Route("GET", "/repos/{owner}/{repo}/pulls", list_pulls),
    Route("POST", "/repos/{owner}/{repo}/pulls", open_pull),
    Route("GET", PULL, show_pull),
    Route("PATCH", PULL, edit_pull),
    Route("GET", f"{PULL}/files", list_files),
    Route("GET", f"{PULL}/commits", list_commits),
    Route("GET", f"{PULL}/comments", list_review_comments),
)
