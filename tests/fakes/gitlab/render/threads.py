"""Issues and merge requests as the API shows them."""

import re

from tests.fakes.gitlab.diffs import diff_refs, files_of, head_sha, merge_status
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.builds import pipeline_json
from tests.fakes.gitlab.render.users import moment, people_json, person_json, user_json
from tests.fakes.gitlab.state import User, World
from tests.fakes.gitlab.thread_state import Label, Milestone, Thread
from tests.fakes.gitlab.webhooks.threads import thread_url

_TASK = re.compile(r"^\s*[-*+] \[(?P<done>[ xX])\] ", re.MULTILINE)
_TIMES: Json = {
    "time_estimate": 0,
    "total_time_spent": 0,
    "human_time_estimate": None,
    "human_total_time_spent": None,
}


def thread_json(world: World, thread: Thread) -> Json:
    """Return what lists show of an issue or merge request."""
    shown = _common(world, thread)
    return shown | (
        _issue(world, thread) if thread.merge is None else _merge(world, thread)
    )


def full_thread_json(world: World, thread: Thread, reader: User | None) -> Json:
    """Return what is shown of a single one, which for an issue is the same."""
    shown = thread_json(world, thread)
    if thread.merge is None:
        return shown | {"subscribed": reader is not None and reader.id == thread.author}
    refs = diff_refs(world, thread)
    head = head_sha(world, thread)
    merge = thread.merge
    pipeline = world.builds.newest_for(merge.source_project, head) if head else None
    return shown | {
        "subscribed": False,
        "changes_count": str(len(files_of(world, thread))) if refs else None,
        "latest_build_started_at": None,
        "latest_build_finished_at": None,
        "first_deployed_to_production_at": None,
        "pipeline": pipeline_json(world, pipeline) if pipeline else None,
        "head_pipeline": pipeline_json(world, pipeline, full=True)
        if pipeline
        else None,
        "diff_refs": {
            "base_sha": refs.base_sha,
            "head_sha": refs.head_sha,
            "start_sha": refs.start_sha,
        }
        if refs
        else None,
        "merge_error": None,
        "first_contribution": False,
        "user": {"can_merge": reader is not None},
        "diverged_commits_count": 0,
        "rebase_in_progress": False,
    }


def _common(world: World, thread: Thread) -> Json:
    project = world.projects[thread.project]
    marks = [one.name for one in world.awards_on(thread.id)]
    tasks = [match["done"] != " " for match in _TASK.finditer(thread.description)]
    name = f"{thread.kind.mark}{thread.iid}"
    notes = [one for one in world.notes_of(thread) if not one.system]
    return {
        "id": thread.id,
        "iid": thread.iid,
        "project_id": thread.project,
        "title": thread.title,
        "description": thread.description,
        "state": thread.state,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "closed_at": moment(thread.closed_at),
        "closed_by": person_json(world, thread.closed_by),
        "labels": list(thread.labels),
        "milestone": milestone_json(world, thread.milestone),
        "assignees": people_json(world, thread.assignees),
        "assignee": person_json(world, next(iter(thread.assignees), None)),
        "author": user_json(world, world.users[thread.author]),
        "user_notes_count": len(notes),
        "upvotes": marks.count("thumbsup"),
        "downvotes": marks.count("thumbsdown"),
        "discussion_locked": thread.locked or None,
        "web_url": thread_url(world, thread),
        "time_stats": dict(_TIMES),
        "task_completion_status": {
            "count": len(tasks),
            "completed_count": sum(tasks),
        },
        "references": {
            "short": name,
            "relative": name,
            "full": f"{project.path}{name}",
        },
        "imported": False,
        "imported_from": "none",
    }


def _issue(world: World, thread: Thread) -> Json:
    api = f"{world.base_url}/api/v4/projects/{thread.project}"
    own = f"{api}/issues/{thread.iid}"
    return {
        "type": "ISSUE",
        "issue_type": "issue",
        "merge_requests_count": 0,
        "due_date": None,
        "confidential": thread.confidential,
        "weight": None,
        "blocking_issues_count": 0,
        "has_tasks": bool(_TASK.search(thread.description)),
        "_links": {
            "self": own,
            "notes": f"{own}/notes",
            "award_emoji": f"{own}/award_emoji",
            "project": api,
            "closed_as_duplicate_of": None,
        },
        "severity": "UNKNOWN",
        "moved_to_id": thread.moved_to,
        "service_desk_reply_to": None,
        "epic_iid": None,
        "epic": None,
        "iteration": None,
        "health_status": None,
    }


def _merge(world: World, thread: Thread) -> Json:
    merge = thread.proposed
    status = merge_status(world, thread)
    return {
        "merged_by": person_json(world, merge.merged_by),
        "merge_user": person_json(world, merge.merged_by),
        "merged_at": moment(merge.merged_at),
        "target_branch": merge.target_branch,
        "source_branch": merge.source_branch,
        "reviewers": people_json(world, merge.reviewers),
        "source_project_id": merge.source_project,
        "target_project_id": thread.project,
        "draft": thread.is_draft,
        "work_in_progress": thread.is_draft,
        "merge_when_pipeline_succeeds": False,
        "merge_status": status.merge_status,
        "detailed_merge_status": status.detailed,
        "merge_after": None,
        "sha": head_sha(world, thread),
        "merge_commit_sha": merge.merge_sha,
        "squash_commit_sha": None,
        "should_remove_source_branch": None,
        "force_remove_source_branch": merge.remove_source,
        "prepared_at": moment(thread.created_at),
        "allow_collaboration": merge.allow_collaboration,
        "allow_maintainer_to_push": merge.allow_collaboration,
        "reference": f"!{thread.iid}",
        "squash": merge.squash,
        "squash_on_merge": merge.squash,
        "has_conflicts": status.has_conflicts,
        "blocking_discussions_resolved": all(
            one.resolved_at is not None
            for one in world.notes_of(thread)
            if one.resolvable
        ),
        "approvals_before_merge": None,
    }


def approvals_json(world: World, thread: Thread, reader: User | None) -> Json:
    """Return who has approved.

    https://docs.gitlab.com/api/merge_request_approvals/
    """
    given = [one for one in world.approvals if one.thread == thread.id]
    needed = world.projects[thread.project].approvals_required
    mine = reader is not None and any(one.user == reader.id for one in given)
    return {
        "id": thread.id,
        "iid": thread.iid,
        "project_id": thread.project,
        "title": thread.title,
        "description": thread.description,
        "state": thread.state,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "merge_status": merge_status(world, thread).merge_status,
        "approved": len(given) >= needed,
        "approvals_required": needed,
        "approvals_left": max(0, needed - len(given)),
        "require_password_to_approve": False,
        "approved_by": [
            {
                "user": user_json(world, world.users[one.user]),
                "approved_at": moment(one.at),
            }
            for one in given
        ],
        "suggested_approvers": [],
        "approvers": [],
        "approver_groups": [],
        "user_has_approved": mine,
        "user_can_approve": reader is not None and not mine,
        "approval_rules_left": [],
        "has_approval_rules": needed > 0,
        "merge_request_approvers_available": True,
        "multiple_approval_rules_available": True,
        "invalid_approvers_rules": [],
    }


def reviewers_json(world: World, thread: Thread) -> list[Json]:
    return [
        {
            "user": user_json(world, world.users[one]),
            "state": world.review_states.get((thread.id, one), "unreviewed"),
            "created_at": moment(thread.updated_at),
        }
        for one in thread.proposed.reviewers
    ]


def milestone_json(world: World, number: int | None) -> Json | None:
    found = world.milestones.get(number or 0)
    return None if found is None else full_milestone_json(world, found)


def full_milestone_json(world: World, milestone: Milestone) -> Json:
    at = moment(milestone.created_at)
    path = world.projects[milestone.project].path
    return {
        "id": milestone.id,
        "iid": milestone.iid,
        "project_id": milestone.project,
        "title": milestone.title,
        "description": "",
        "state": milestone.state,
        "created_at": at,
        "updated_at": at,
        "due_date": None,
        "start_date": None,
        "expired": False,
        "web_url": f"{world.base_url}/{path}/-/milestones/{milestone.iid}",
    }


def label_json(label: Label) -> Json:
    return {
        "id": label.id,
        "name": label.name,
        "description": label.description,
        "description_html": label.description or "",
        "text_color": "#FFFFFF",
        "color": label.color,
        "archived": False,
        "subscribed": False,
        "priority": None,
        "is_project_label": True,
    }
