"""Perform the effects of a task: push, pull request, final message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from patchwright.core.channel import Channel
from patchwright.core.errors import (
    AuthenticationError,
    BranchMovedError,
    GitError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    PushRefusedError,
)
from patchwright.core.forge import Forge
from patchwright.core.text.names import branch_name
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Repository, ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.admission import Admitted, Declined, Facts, Policy, admit
from patchwright.resolver.effects import (
    Effect,
    FinalMessage,
    OpenPullRequest,
    PushBranch,
    UpdatePullRequest,
)
from patchwright.resolver.messages.pull_request import Provenance, pull_request_text
from patchwright.resolver.messages.status import (
    Delivered,
    Frame,
    final_comment,
    mark,
)


@dataclass(frozen=True)
class Destination:
    """Where one run's result goes.

    `status_post` is the run's own comment, empty when it has none.
    """

    repository: Repository
    thread: ThreadRef
    requester: Actor
    status_post: str
    origin: Provenance
    frame: Frame


class Deliverer:
    """Performs one run's effects, each of which may be asked for again."""

    def __init__(
        self,
        *,
        forge: Forge,
        channel: Channel,
        fetch_mirror: Callable[[], Mirror],
        policy: Policy,
    ) -> None:
        self._forge, self._channel = forge, channel
        self._fetch_mirror = fetch_mirror
        self._policy = policy

    def perform(
        self, effect: Effect, outcome: Outcome, to: Destination, so_far: Delivered
    ) -> Delivered:
        """Do one effect and return what there is to show now.

        A refusal that asking again would not change is part of the result; the errors
        that leaves are worth another try later.
        """
        if isinstance(effect, FinalMessage):
            return self._say(outcome, to, so_far)
        if so_far.refusal or so_far.left_alone:
            return so_far
        try:
            self._judge_again(to)
            return self._write(effect, outcome, to, so_far)
        except (
            AuthenticationError,
            InvalidRequestError,
            PermissionDeniedError,
            NotFoundError,
            GitError,
        ) as error:
            return so_far.model_copy(update={"refusal": str(error)})

    def _write(
        self,
        effect: PushBranch | OpenPullRequest | UpdatePullRequest,
        outcome: Outcome,
        to: Destination,
        so_far: Delivered,
    ) -> Delivered:
        match effect:
            case PushBranch():
                return self._push(effect, outcome, to)
            case OpenPullRequest():
                text = pull_request_text(outcome, to.origin, draft=effect.draft)
                pull = self._forge.open_pull_request(
                    to.repository.ref, so_far.branch, effect.base_branch, text
                )
            case UpdatePullRequest():
                text = pull_request_text(outcome, to.origin, draft=effect.draft)
                pull = self._forge.update_pull_request(
                    to.repository.ref, effect.number, text
                )
            case _:
                assert_never(effect)
        return so_far.model_copy(
            update={
                "pull_request": pull.number,
                "pull_request_url": pull.url,
                "draft": pull.draft,
            }
        )

    def _push(self, effect: PushBranch, outcome: Outcome, to: Destination) -> Delivered:
        """Push; where somebody else holds the branch, to one of our own instead."""
        try:
            self._push_to(effect.branch, effect.expect, effect.sha, to)
        except (BranchMovedError, PushRefusedError) as error:
            if isinstance(error, PushRefusedError) and not effect.expect:
                raise
            run = to.origin.run_id[:8]
            if not effect.expect:
                other = f"{effect.branch}-{run}"
                self._push_to(other, "", effect.sha, to)
                return _pushed(other, outcome, to)
            own = branch_name(to.thread.number, run)
            self._push_to(own, "", effect.sha, to)
            why = f"`{effect.branch}` was left alone: {error}."
            return _pushed(own, outcome, to).model_copy(update={"left_alone": why})
        return _pushed(effect.branch, outcome, to)

    def _push_to(self, branch: str, expect: str, sha: str, to: Destination) -> None:
        self._fetch_mirror().push(
            to.repository.clone_url,
            self._forge.mint_credential(to.repository.ref),
            sha=sha,
            branch=branch,
            expect=expect or None,
            forbidden_branches={to.repository.default_branch},
        )

    def _judge_again(self, to: Destination) -> None:
        """Refuse to write for somebody who may not ask any more."""
        unseen = Facts(actor=to.requester, permission=None)
        if isinstance(admit(unseen, self._policy), Admitted):
            return
        permission = self._forge.fetch_permission(to.repository.ref, to.requester)
        facts = Facts(actor=to.requester, permission=permission)
        judged = admit(facts, self._policy)
        if isinstance(judged, Declined):
            raise PermissionDeniedError(judged.text)

    def _say(self, outcome: Outcome, to: Destination, so_far: Delivered) -> Delivered:
        """Edit the run's comment; where there is none, look again before posting."""
        text = final_comment(outcome, so_far, to.frame)
        if to.status_post and self._edit(to.thread, to.status_post, text):
            return so_far
        lost = self._channel.find_post(to.thread, mark(to.frame.run_id))
        if not (lost and self._edit(to.thread, lost, text)):
            self._channel.post(to.thread, text)
        return so_far

    def _edit(self, thread: ThreadRef, post_id: str, text: str) -> bool:
        """Replace a comment's text; return False if somebody has deleted it."""
        try:
            self._channel.edit(thread, post_id, text)
        except NotFoundError:
            return False
        return True


def _pushed(branch: str, outcome: Outcome, to: Destination) -> Delivered:
    site = to.repository.web_url
    return Delivered(
        branch=branch,
        branch_url=f"{site}/tree/{branch}",
        compare_url=f"{site}/compare/{outcome.base_branch}...{branch}",
    )
