"""Read what happens to a project: pipelines, pushes, a new name."""

from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.threads import RepoRef, ThreadKind
from patchwright.core.types.triggers import (
    BaseMoved,
    Ignored,
    ParsedWebhook,
    RepositoryMoved,
    StatusReported,
    TriggerKind,
)
from patchwright.integrations.gitlab.webhooks import payloads
from patchwright.integrations.gitlab.webhooks.triggers import (
    SERVICE,
    GitLabTriggerRules,
    NoteContext,
    repo_ref_of,
)

_PIPELINE = TypeAdapter(payloads.PipelineDelivery)
_PUSH = TypeAdapter(payloads.PushDelivery)
_MOVE = TypeAdapter(payloads.MoveDelivery)

_BRANCH: Final = "refs/heads/"
_PASSED: Final = frozenset({"success", "skipped"})
# https://docs.gitlab.com/api/pipelines/
_ENDED: Final = frozenset({*_PASSED, "failed", "canceled"})


def read_pipeline(body: bytes, _: GitLabTriggerRules) -> ParsedWebhook:
    """Read that a pipeline has ended: of a merge request, or of a branch.

    One of a branch names no merge request, also where the branch has one.
    """
    delivery = _PIPELINE.validate_json(body)
    pipeline, proposal = delivery.object_attributes, delivery.merge_request
    if pipeline.status not in _ENDED:
        return Ignored(reason="checks-pending")
    if pipeline.tag:
        return Ignored(reason="no-branch")
    if proposal is None:
        return StatusReported(
            repo=repo_ref_of(delivery.project),
            id=pipeline.id,
            sha=pipeline.sha,
            branches=(pipeline.ref,),
            has_passed=pipeline.status in _PASSED,
        )
    if proposal.source_project_id != proposal.target_project_id:
        return Ignored(reason="of-a-fork")
    context = NoteContext(
        delivery.project, proposal, ThreadKind.MERGE_REQUEST, delivery.user
    )
    # A job that is tried again lets the same pipeline end once more.
    name = f"{TriggerKind.CHECKS}:{pipeline.sha}:{pipeline.id}:{pipeline.finished_at}"
    trigger = context.trigger(name, TriggerKind.CHECKS)
    return trigger.replace(head_sha=pipeline.sha)


def read_push(body: bytes, _: GitLabTriggerRules) -> ParsedWebhook:
    push = _PUSH.validate_json(body)
    if not push.ref.startswith(_BRANCH):
        return Ignored(reason="no-branch")
    if not push.after.strip("0"):
        return Ignored(reason="branch-deleted")
    return BaseMoved(
        repo=repo_ref_of(push.project),
        branch=push.ref.removeprefix(_BRANCH),
        sha=push.after,
    )


def read_move(body: bytes, _: GitLabTriggerRules) -> ParsedWebhook:
    """Read that a project was renamed or given to another group.

    Only a hook of the whole server tells it.
    https://docs.gitlab.com/administration/system_hooks/
    """
    move = _MOVE.validate_json(body)
    old, new = move.old_path_with_namespace, move.path_with_namespace
    if old == new:
        return Ignored(reason="move-not-told")
    return RepositoryMoved(
        old=RepoRef(forge=SERVICE, full_name=old),
        new=RepoRef(forge=SERVICE, full_name=new),
        id=str(move.project_id or ""),
    )
