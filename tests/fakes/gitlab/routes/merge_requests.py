"""Merge requests: opened, changed, approved, merged, and what they are made of."""

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import level_of, reads_code
from tests.fakes.gitlab.acts import merges
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.acts.quick_actions import carry_out, read_orders
from tests.fakes.gitlab.build_state import Pipeline
from tests.fakes.gitlab.call import Call, Route, as_bool, as_list, paged
from tests.fakes.gitlab.diffs import commits_of, diff_json, files_of
from tests.fakes.gitlab.exchange import Json, forbidden, missing, not_found
from tests.fakes.gitlab.render.builds import pipeline_json
from tests.fakes.gitlab.render.projects import commit_json
from tests.fakes.gitlab.render.threads import (
    approvals_json,
    full_thread_json,
    reviewers_json,
    thread_json,
)
from tests.fakes.gitlab.routes.threads import (
    closes,
    edit_thread,
    list_threads,
    read_people,
)
from tests.fakes.gitlab.state import Level
from tests.fakes.gitlab.thread_state import Thread, ThreadKind

MERGES = "/projects/{id}/merge_requests"
MERGE = MERGES + "/{iid}"


def list_merges(call: Call) -> Answer:
    project = call.project()
    found = call.world.threads_of(project.id, ThreadKind.MERGE_REQUEST)
    for name in ("source_branch", "target_branch"):
        if (wanted := call.request.query.get(name)) is not None:
            found = [one for one in found if getattr(one.proposed, name) == wanted]
    source = call.request.query.get("source_project_id")
    if source is not None:
        found = [one for one in found if str(one.proposed.source_project) == source]
    return list_threads(call, found)


def get_merge(call: Call) -> Answer:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    shown = full_thread_json(call.world, thread, call.caller.user)
    left = call.world.pondered.get(thread.id, 0)
    if left:
        # Whether it merges is found out once somebody has asked.
        call.world.pondered[thread.id] = left - 1
    return Answer(status=200, body=shown)


def create_merge(call: Call) -> Answer:
    """Open one from a branch of this project, to it or to what it was forked from."""
    user = call.user()
    source = call.project()
    asked = call.body()
    for name in ("title", "source_branch", "target_branch"):
        if name not in asked:
            raise missing(name)
    target = source
    if asked.get("target_project_id"):
        number = int(asked["target_project_id"])
        found = call.world.projects.get(number)
        if found is None:
            raise not_found("Project Not Found")
        target = found
    if level_of(call.world, source, user) < Level.DEVELOPER:
        raise forbidden()
    read = read_orders(str(asked.get("description") or ""))
    proposal = Proposal(
        title=str(asked["title"]),
        source=str(asked["source_branch"]),
        target=str(asked["target_branch"]),
        description=read.text,
        fork=source.path if source.id != target.id else "",
        allow_collaboration=as_bool(asked.get("allow_collaboration")),
        labels=tuple(as_list(asked.get("labels"))),
        assignees=read_people(call, asked, "assignee"),
        reviewers=read_people(call, asked, "reviewer"),
        milestone=int(asked["milestone_id"]) if asked.get("milestone_id") else None,
        remove_source=as_bool(asked.get("remove_source_branch")),
        squash=as_bool(asked.get("squash")),
    )
    thread = merges.open_merge(call.world, target, proposal, user.id)
    carry_out(call.world, thread, user.id, read.orders)
    thread = call.world.threads[thread.id]
    return Answer(status=201, body=full_thread_json(call.world, thread, user))


def edit_merge(call: Call) -> Answer:
    asked = call.body()
    thread = edit_thread(call, call.thread(ThreadKind.MERGE_REQUEST), asked)
    changes = _read_changes(call, asked)
    if changes:
        thread = merges.change_merge(call.world, thread, call.user().id, **changes)
    return Answer(status=200, body=full_thread_json(call.world, thread, call.user()))


def _read_changes(call: Call, asked: Json) -> dict[str, object]:
    changes: dict[str, object] = {}
    if "target_branch" in asked:
        changes["target_branch"] = str(asked["target_branch"])
    if "reviewer_ids" in asked:
        changes["reviewers"] = read_people(call, asked, "reviewer")
    for name, field in (
        ("allow_collaboration", "allow_collaboration"),
        ("remove_source_branch", "remove_source"),
        ("squash", "squash"),
    ):
        if name in asked:
            changes[field] = as_bool(asked[name])
    return changes


def merge(call: Call) -> Answer:
    user = call.user()
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    project = call.world.projects[thread.project]
    protection = project.protected.get(thread.proposed.target_branch)
    needed = protection.merge if protection else Level.DEVELOPER
    if level_of(call.world, project, user) < needed:
        raise forbidden("Unauthorized")
    merged = merges.merge(call.world, thread, user.id)
    return Answer(status=200, body=full_thread_json(call.world, merged, user))


def get_approvals(call: Call) -> Answer:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    return Answer(status=200, body=approvals_json(call.world, thread, call.caller.user))


def approve(call: Call) -> Answer:
    user = call.user()
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    merges.approve(call.world, thread, user.id, str(call.body().get("sha", "")))
    return Answer(status=201, body=approvals_json(call.world, thread, user))


def unapprove(call: Call) -> Answer:
    user = call.user()
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    merges.unapprove(call.world, thread, user.id)
    return Answer(status=201, body=approvals_json(call.world, thread, user))


def list_reviewers(call: Call) -> Answer:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    return paged(call, reviewers_json(call.world, thread))


def list_commits(call: Call) -> Answer:
    """List the commits, the newest first."""
    thread = _with_code(call)
    project = call.world.projects[thread.project]
    found = reversed(commits_of(call.world, thread))
    return paged(call, [commit_json(call.world, project, one) for one in found])


def list_diffs(call: Call) -> Answer:
    return paged(
        call, [diff_json(one) for one in files_of(call.world, _with_code(call))]
    )


def get_changes(call: Call) -> Answer:
    thread = _with_code(call)
    shown = full_thread_json(call.world, thread, call.caller.user)
    changes = [diff_json(one) for one in files_of(call.world, thread)]
    return Answer(status=200, body={**shown, "changes": changes, "overflow": False})


def list_pipelines(call: Call) -> Answer:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    found = [one for one in call.world.builds.pipelines.values() if _is_of(one, thread)]
    return paged(call, [pipeline_json(call.world, one) for one in reversed(found)])


def _is_of(pipeline: Pipeline, thread: Thread) -> bool:
    merge = thread.proposed
    own = (merge.source_project, merge.source_branch)
    return pipeline.merge_request == thread.id or own == (
        pipeline.project,
        pipeline.ref,
    )


def list_closed_issues(call: Call) -> Answer:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    issues = call.world.threads_of(thread.project, ThreadKind.ISSUE)
    found = [one for one in issues if closes(thread, one)]
    return paged(call, [thread_json(call.world, one) for one in found])


def _with_code(call: Call) -> Thread:
    thread = call.thread(ThreadKind.MERGE_REQUEST)
    project = call.world.projects[thread.project]
    if not reads_code(call.world, project, call.caller.user):
        raise forbidden()
    return thread


ROUTES = (
    Route("GET", MERGES, list_merges),
    Route("POST", MERGES, create_merge),
    Route("GET", MERGE, get_merge),
    Route("PUT", MERGE, edit_merge),
    Route("PUT", MERGE + "/merge", merge),
    Route("GET", MERGE + "/approvals", get_approvals),
    Route("POST", MERGE + "/approve", approve),
    Route("POST", MERGE + "/unapprove", unapprove),
    Route("GET", MERGE + "/reviewers", list_reviewers),
    Route("GET", MERGE + "/commits", list_commits),
    Route("GET", MERGE + "/diffs", list_diffs),
    Route("GET", MERGE + "/changes", get_changes),
    Route("GET", MERGE + "/pipelines", list_pipelines),
    Route("GET", MERGE + "/closes_issues", list_closed_issues),
)
