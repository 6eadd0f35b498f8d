"""Put a run's commit on its branch, and nowhere it does not belong."""

from typing import Final
from urllib.parse import quote

from patchwright.core.forge import FileChange, NewCommit
from patchwright.core.text.branch_names import branch_name, flat_name
from patchwright.core.text.escape import inline_code
from patchwright.core.types.errors import (
    BranchBlockedError,
    BranchClosedError,
    BranchMovedError,
    CommitDiffersError,
    GitError,
    InvalidRequestError,
    NotFoundError,
    PatchwrightError,
    PermissionDeniedError,
    PushRefusedError,
)
from patchwright.core.types.evidence import Evidence, Proof, ProofReport
from patchwright.core.types.threads import Repository
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.changes import ChangeKind, can_commit_by_api
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.remote import BranchUpdate
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.publish.destination import Destination, PublisherDependencies
from patchwright.resolver.publish.effects import PushBranch


def push_signed(
    effect: PushBranch,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    *,
    onto: str = "",
) -> str | None:
    """Put the change on its branch as a commit of the forge's own, and return its id.

    It is made on top of `onto`, by default of where the work has started. None means
    that git must push: the forge cannot make it, or would not. Raises BranchMovedError,
    and the errors that are worth another try.
    """
    protected = (to.repository.default_branch, outcome.base_branch)
    forge_commits = dependencies.forge.commits if dependencies.forge_signs else None
    if forge_commits is None or effect.fork or effect.branch in protected:
        return None
    base_sha = onto or outcome.base_sha
    if effect.expect and effect.expect != base_sha:
        return None
    commit = _as_forge_commit(dependencies.fetch_mirror().objects, base_sha, effect.sha)
    if commit is None:
        return None
    try:
        return forge_commits.commit_on_branch(to.repository.ref, effect.branch, commit)
    except (
        CommitDiffersError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
        PushRefusedError,
    ):
        return None


def _as_forge_commit(code: ObjectStore, base_sha: str, sha: str) -> NewCommit | None:
    """Return a commit in the words of a forge, or None if it has none for it."""
    changes = code.changed_paths(base_sha, sha)
    if code.parents_of(sha) != (base_sha,) or not can_commit_by_api(changes):
        return None
    gone = {c.old_path for c in changes if c.kind is ChangeKind.RENAMED}
    gone |= {c.path for c in changes if c.kind is ChangeKind.DELETED}
    new = [c.path for c in changes if c.kind is not ChangeKind.DELETED]
    files = [FileChange(path=path, data=code.read_file(sha, path)) for path in new]
    removed = [FileChange(path=path, data=None) for path in sorted(gone - set(new))]
    return NewCommit(
        base_sha=base_sha,
        tree=code.tree_of(sha),
        message=code.message_of(sha),
        changes=(*files, *removed),
    )


_REFUSALS: Final = (
    BranchMovedError,
    NotFoundError,
    PermissionDeniedError,
    PushRefusedError,
)


def push_branch(
    effect: PushBranch,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
) -> DeliveryResult:
    """Push; where somebody else holds the branch, to one of our own instead.

    What others have pushed there meanwhile stays, and the change goes on top of it
    where the two do not conflict. The state of the pull request is fetched now: it may
    have been merged or closed while the run worked.
    """
    if not effect.expect:
        return _make_branch(effect, outcome, to, dependencies)
    try:
        _require_open(effect, to, dependencies)
        sha = _push_commit(effect, outcome, to, dependencies)
    except _REFUSALS as error:
        if rebased := _push_rebased(effect, error, outcome, to, dependencies):
            return rebased
        aside = _fallback_branch(effect, error, to)
        if aside is None:
            raise
        pushed = _make_branch(aside, outcome, to, dependencies)
        why = _why_left_alone(effect, error, pushed.branch, to)
        return pushed.replace(left_alone=why)
    return _branch_result(effect, sha, outcome, to)


def _make_branch(
    effect: PushBranch,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
) -> DeliveryResult:
    """Push to a new branch; one of another name where that one cannot be made."""
    try:
        sha = _push_commit(effect, outcome, to, dependencies)
    except _REFUSALS as error:
        other = _other_name(effect.branch, error, to, dependencies)
        if other is None:
            raise
        again = PushBranch(branch=other, sha=effect.sha)
        return _make_branch(again, outcome, to, dependencies)
    return _branch_result(effect, sha, outcome, to)


def _other_name(
    branch: str,
    error: PatchwrightError,
    to: Destination,
    dependencies: PublisherDependencies,
) -> str | None:
    """Return what else to call a new branch, None where the name is not at fault."""
    if "/" in branch and _is_blocked(branch, error, to, dependencies):
        return flat_name(branch)
    own = f"-{to.origin.run_id[:8]}"
    is_taken = isinstance(error, BranchMovedError | BranchBlockedError)
    return f"{branch}{own}" if is_taken and not branch.endswith(own) else None


def _is_blocked(
    branch: str,
    error: PatchwrightError,
    to: Destination,
    dependencies: PublisherDependencies,
) -> bool:
    """Tell whether another branch's name is in the way, also if nobody says so."""
    if not isinstance(error, PushRefusedError):
        return False
    parts = branch.split("/")
    above = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return isinstance(error, BranchBlockedError) or any(
        dependencies.forge.has_branch(to.repository.ref, name) for name in above
    )


def _require_open(
    effect: PushBranch, to: Destination, dependencies: PublisherDependencies
) -> None:
    """Raise where the branch is not meant to be moved any more.

    A branch that was deleted must not come back, and what is pushed to that of a pull
    request which is not open reaches nobody.
    """
    if not effect.expect:
        return
    repo, number = to.repository.ref, effect.pull_request
    pull = dependencies.forge.fetch_pull_request(repo, number) if number else None
    if pull is not None and not pull.is_open and pull.head_sha != effect.sha:
        what = "merged" if pull.is_merged else "closed"
        raise BranchClosedError(f"{pull.name} was {what} while this run worked")
    if not effect.fork and not dependencies.forge.has_branch(repo, effect.branch):
        raise BranchClosedError("it was deleted while this run worked")


def _push_rebased(
    effect: PushBranch,
    error: PatchwrightError,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
) -> DeliveryResult | None:
    """Put the change on top of what others have pushed, unless the two conflict."""
    is_moved = isinstance(error, BranchMovedError)
    is_closed = isinstance(error, BranchClosedError)
    if not is_moved or is_closed or not effect.expect or effect.fork:
        return None
    mirror = dependencies.fetch_mirror()
    try:
        head = mirror.resolve(f"refs/heads/{effect.branch}")
    except GitError:
        return None
    sha = mirror.objects.rebase(effect.sha, head)
    if sha is None or head == effect.expect:
        return None
    again = PushBranch(
        branch=effect.branch,
        sha=sha,
        expect=head,
        pull_request=effect.pull_request,
    )
    ran = (
        dependencies.prove_again(outcome, mirror, head, sha)
        if outcome.evidence
        else None
    )
    try:
        written = _push_commit(again, outcome, to, dependencies, onto=head)
    except _REFUSALS:
        return None
    pushed = _branch_result(again, written, outcome, to)
    return _rebased_result(pushed, effect, ran, (sha, written))


def _rebased_result(
    pushed: DeliveryResult,
    effect: PushBranch,
    ran: ProofResult | str | None,
    names: tuple[str, str],
) -> DeliveryResult:
    """Say what is known of a change on top of other people's commits.

    `names` are what its commit was called when it was run, and what it is called now.
    """
    note = (
        f"Others have pushed to {inline_code(effect.branch)} while this run worked. "
        "The change is on top of that"
    )
    proven: ProofResult | None = None
    if isinstance(ran, str):
        note += f"; its tests ran before that, on {effect.sha[:10]}: {ran}."
    else:
        proven = ran
        note += ", and its tests were run again there." if ran else "."
    rebased = pushed.replace(is_rebased=True, remarks=(note,))
    if proven is None:
        return rebased
    evidence = (_evidence_of_commit(one, *names) for one in proven.evidence)
    is_sound = not proven.warnings or proven.level is not Proof.PROVEN
    return rebased.replace(
        evidence=tuple(evidence),
        proof=proven.level if is_sound else Proof.NOT_PROVEN,
        proof_report=_report_of_commit(proven.report, *names),
        remarks=(note, *proven.warnings),
    )


def _evidence_of_commit(one: Evidence, before: str, now: str) -> Evidence:
    return one.replace(commit=now) if one.commit == before else one


def _report_of_commit(report: ProofReport, before: str, now: str) -> ProofReport:
    return report.replace(head_sha=now) if report.head_sha == before else report


def _push_commit(
    effect: PushBranch,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    *,
    onto: str = "",
) -> str:
    """Return the commit that is on the branch now: ours, or as the forge made it."""
    signed = push_signed(effect, outcome, to, dependencies, onto=onto)
    if signed is not None:
        return signed
    _push_with_git(effect, to, dependencies)
    return effect.sha


def _fallback_branch(
    effect: PushBranch, error: PatchwrightError, to: Destination
) -> PushBranch | None:
    """Return what to push instead, or None where nothing else would help."""
    run = to.origin.run_id[:8]
    if effect.fork or isinstance(error, BranchMovedError | PushRefusedError):
        return PushBranch(branch=branch_name(to.thread.token, run), sha=effect.sha)
    return None


def _push_with_git(
    effect: PushBranch, to: Destination, dependencies: PublisherDependencies
) -> None:
    """Push with the rights that we have in the thread's own repository.

    Who may write there may write to a fork's branch that its owner has opened to the
    maintainers, and to no other branch of the fork.
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/working-with-forks/allowing-changes-to-a-pull-request-branch-created-from-a-fork
    """
    own = {to.repository.default_branch}
    dependencies.fetch_mirror().push(
        _repository_url(to.repository.clone_url, to.repository, effect.fork),
        dependencies.forge.mint_credential(to.repository.ref),
        BranchUpdate(
            branch=effect.branch,
            sha=effect.sha,
            expect=effect.expect or None,
            forbidden_branches=() if effect.fork else own,
        ),
    )


def _repository_url(url: str, repository: Repository, full_name: str) -> str:
    """Return an address of the repository as it is for another one of the forge."""
    if not full_name:
        return url
    root, own, end = url.rpartition(repository.ref.full_name)
    return f"{root}{full_name}{end}" if own else url


def _why_left_alone(
    effect: PushBranch, error: PatchwrightError, aside: str, to: Destination
) -> str:
    branch = inline_code(effect.branch)
    if not effect.fork:
        return f"{branch} was not changed: {error}."
    closed = isinstance(error, PermissionDeniedError | NotFoundError)
    why = "the service does not let us write there" if closed else str(error)
    return (
        f"{branch} of `{effect.fork}` was not changed: {why}. Its owner can pull the "
        f"change: `git pull {to.repository.clone_url} {aside}`."
    )


def _branch_result(
    effect: PushBranch, sha: str, outcome: Outcome, to: Destination
) -> DeliveryResult:
    repository, branch = to.repository, quote(effect.branch)
    pages = _repository_url(repository.pages_url, repository, effect.fork)
    owner = f"{effect.fork.partition('/')[0]}:" if effect.fork else ""
    new_pull = repository.forms.new_pull_path.format(
        base=quote(outcome.base_branch), head=f"{owner}{branch}"
    )
    return DeliveryResult(
        branch=effect.branch,
        head_sha=sha,
        branch_url=f"{pages}/tree/{branch}",
        compare_url=f"{repository.pages_url}/{new_pull}",
    )
