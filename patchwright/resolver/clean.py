"""Remove unwanted files from a change, and find what a person must decide."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from patchwright.core.settings.repository import CONFIG_FILE, PROTECTED_PATHS
from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import count_noun
from patchwright.core.types.work import DiffStat, LeftOut, LeftOutReason, Outcome
from patchwright.integrations.git.changes import (
    GITLINK,
    ChangedPath,
    ChangeProblemKind,
    SizeLimits,
    find_excess,
    find_rubbish,
    shown_path,
)
from patchwright.integrations.git.merge import adds_conflict_markers
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.changed_files import (
    FileVersions,
    RuleViolation,
    find_protected,
    read_versions,
)
from patchwright.resolver.guards.leaks import (
    FindKnownSecrets,
    Leak,
    PrivateWords,
    find_no_secrets,
    find_repeated,
    find_secrets,
)
from patchwright.resolver.guards.runner_configuration import is_ci
from patchwright.resolver.guards.tampering import find_tampering, rules_out_proof

_SHOWN = 5


@dataclass(frozen=True)
class CheckedMerge:
    """The result of a merge.

    `tree` has the submodules as the merge moves them. `changes` are the files that
    differ from both sides: only these are new work. `objection` says why it must not be
    committed as a merge, if there is a reason.
    """

    tree: str
    changes: tuple[ChangedPath, ...]
    notes: tuple[str, ...] = ()
    objection: str = ""


def check_merge(
    code: ObjectStore, base_sha: str, merge_sha: str, head: str
) -> CheckedMerge:
    """Check `head`, a commit or tree, as the merge of `merge_sha` into `base_sha`."""
    merge = code.merge(base_sha, merge_sha)
    joined = merge.merge_submodules(code.tree_of(head))
    unfinished = merge.find_conflict_markers(joined.tree)
    lost = merge.find_lost(joined.tree)
    return CheckedMerge(
        tree=joined.tree,
        changes=merge.own_changes(joined.tree),
        notes=(_submodules_text(joined.conflicting),) if joined.conflicting else (),
        objection=_conflict_markers_text(unfinished) or _lost_changes_text(lost),
    )


def _lost_changes_text(paths: tuple[str, ...]) -> str:
    if not paths:
        return ""
    return (
        f"What the base branch changed in {_list_paths(paths)} was left out, "
        "so the merge was not committed."
    )


def _conflict_markers_text(changes: tuple[ChangedPath, ...]) -> str:
    if not changes:
        return ""
    shown = _list_paths(tuple(change.path for change in changes))
    return f"Conflict markers were left in {shown}, so the merge was not committed."


def _submodules_text(paths: tuple[str, ...]) -> str:
    which = count_noun(len(paths), "submodule")
    listed = _list_paths(paths)
    return f"Both sides moved {which}, which stays as in this branch: {listed}."


def _list_paths(paths: tuple[str, ...]) -> str:
    names = [inline_code(shown_path(path)) for path in paths[:_SHOWN]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


class KeepAs(StrEnum):
    """How much of a change that is not proposed may leave the service."""

    BRANCH = "branch"
    PATCH = "patch"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Objection:
    """Why a change is not proposed: a short code, and a text for people."""

    reason: str
    text: str
    keep: KeepAs


@dataclass(frozen=True)
class CleanedChange:
    """The tree to propose, notes about it, and reasons to ask a person first.

    `warnings` are for reviewers. A change with `rules_out_proof` can make tests print
    any result. With an `objection` nobody is asked to review the change. If there is
    `excess`, `whole` is the tree that also has the parts that are too large.
    """

    tree: str
    notes: tuple[str, ...]
    excess: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    rules_out_proof: bool = False
    objection: Objection | None = None
    left_out: tuple[LeftOut, ...] = ()
    whole: str = ""


def clean(
    code: ObjectStore,
    base_sha: str,
    head_sha: str,
    *,
    protected_paths: Sequence[str] = PROTECTED_PATHS,
    config_file: str = CONFIG_FILE,
    find_known: FindKnownSecrets = find_no_secrets,
    private: PrivateWords | None = None,
    changes: Sequence[ChangedPath] | None = None,
) -> CleanedChange:
    """Check the change from base to head; build files are not part of it.

    The repository's `config_file` says which paths are protected. The change must not
    repeat the `private` words. `changes` are the changes that count, if not all do.
    """
    is_merge = changes is not None
    if changes is None:
        changes = code.changed_paths(base_sha, head_sha)
    found, kept = _split_change(code, base_sha, head_sha, changes, is_merge=is_merge)
    if found.excess:  # too much to read, too
        return found
    versions = read_versions(code, base_sha, found.tree, kept)
    leaks = find_secrets(versions, find_known)
    return replace(
        found,
        warnings=(
            *find_tampering(versions),
            *_warn_of_unfiltered(code, found.tree, kept),
        ),
        rules_out_proof=rules_out_proof(versions),
        objection=_object_to_secrets(leaks)
        or _object_to_private_words(versions, private)
        or _object_to_protected_paths(
            find_protected(kept, protected_paths), config_file
        )
        or (None if is_merge else _object_to_conflict_markers(versions)),
    )


@dataclass(frozen=True)
class WholeChange:
    """What all commits of a pull request do to the tests that are to judge it."""

    warnings: tuple[str, ...] = ()
    rules_out_proof: bool = False
    size: DiffStat = field(default_factory=DiffStat)

    def added_to(self, outcome: Outcome) -> Outcome:
        """Return the outcome of the newest of the commits with what holds for all."""
        warnings = dict.fromkeys((*outcome.warnings, *self.warnings))
        return outcome.replace(warnings=tuple(warnings), proposed=self.size)


def judge_whole(code: ObjectStore, base_sha: str, head_sha: str) -> WholeChange:
    """Judge a pull request that is proven as a whole, also what came before.

    One that is too large to be read counts as one that affects its own tests.
    """
    changes = code.changed_paths(base_sha, head_sha)
    size = code.diff_stat(base_sha, head_sha)
    if find_excess(changes, SizeLimits()):
        return WholeChange(rules_out_proof=True, size=size)
    versions = read_versions(code, base_sha, head_sha, changes)
    return WholeChange(find_tampering(versions), rules_out_proof(versions), size)


def _split_change(
    code: ObjectStore,
    base_sha: str,
    head_sha: str,
    changes: Sequence[ChangedPath],
    *,
    is_merge: bool,
) -> tuple[CleanedChange, tuple[ChangedPath, ...]]:
    """Remove files that do not belong to a change; also return the rest of it.

    Nothing is removed from a merge: that would undo the other side's work.
    """
    rubbish = find_rubbish(changes)
    unfit = () if is_merge else _find_unfit(code, head_sha, changes)
    out = {*rubbish, *(change for change, _ in unfit)}
    paths = _paths_of(out)
    kept = tuple(change for change in changes if change not in out)
    tree = (
        code.replace_paths(head_sha, base_sha, paths)
        if paths
        else code.tree_of(head_sha)
    )
    # If nothing else is left of the change, a person must decide.
    excess = _describe_excess(kept or tuple(change for change, _ in unfit))
    notes = _note_rubbish(rubbish)
    if not excess:
        return CleanedChange(tree, notes, excess, left_out=_as_left_out(unfit)), kept
    others = [one for one in unfit if one[1] is not LeftOutReason.TOO_LARGE]
    paths = _paths_of({*rubbish, *(change for change, _ in others)})
    whole = (
        code.replace_paths(head_sha, base_sha, paths)
        if paths
        else code.tree_of(head_sha)
    )
    found = CleanedChange(
        tree, notes, excess, left_out=_as_left_out(others), whole=whole
    )
    return found, kept


def _as_left_out(
    unfit: Sequence[tuple[ChangedPath, LeftOutReason]],
) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(path=one.shown, reason=why) for one, why in unfit)


def _paths_of(changes: Collection[ChangedPath]) -> set[str]:
    """Return the paths of the changes, new and old."""
    return {path for one in changes for path in (one.path, one.old_path) if path}


def _note_rubbish(rubbish: Sequence[ChangedPath]) -> tuple[str, ...]:
    note = f"Left out as build or scratch files: {_list_changes(rubbish)}."
    return (note,) if rubbish else ()


def _describe_excess(changes: Sequence[ChangedPath]) -> tuple[str, ...]:
    return tuple(
        f"{_EXCESS_TEXTS[finding.kind]} ({count_noun(len(finding.paths), 'path')})"
        for finding in find_excess(changes, SizeLimits())
    )


def _find_unfit(
    code: ObjectStore, head_sha: str, changes: Sequence[ChangedPath]
) -> tuple[tuple[ChangedPath, LeftOutReason], ...]:
    """Return the parts to remove from a change, so that the rest can be proposed."""
    limit = SizeLimits().max_file_bytes
    hidden = {one.path for one in code.find_filtered(head_sha, changes) if one.encrypts}
    return tuple(
        (change, reason)
        for change in changes
        for reason, holds in (
            (LeftOutReason.TOO_LARGE, max(change.sizes) > limit),
            (LeftOutReason.SUBMODULE, GITLINK in (change.mode, change.old_mode)),
            (LeftOutReason.ENCRYPTED, change.path in hidden),
        )
        if holds
    )


def _warn_of_unfiltered(
    code: ObjectStore, tree: str, changes: Sequence[ChangedPath]
) -> tuple[str, ...]:
    """Warn about files that a filter such as Git LFS should have converted."""
    raw = [one for one in code.find_filtered(tree, changes) if not one.is_pointer]
    return tuple(
        f"{inline_code(shown_path(one.path))} is stored as it is: `.gitattributes` "
        f"wants the filter {inline_code(one.filter)}, which was not run."
        + (" Run `git lfs migrate import --no-rewrite` on it." * (one.filter == "lfs"))
        for one in raw[:_SHOWN]
    )


def _object_to_conflict_markers(versions: Sequence[FileVersions]) -> Objection | None:
    """Object to a change that contains conflict markers."""
    torn = [
        one.change
        for one in versions
        if one.after is not None
        and adds_conflict_markers(one.after.encode(), (one.before or "").encode())
    ]
    if not torn:
        return None
    text = (
        f"Conflict markers were left in {_list_changes(torn)}, so the change was not "
        "proposed."
    )
    return Objection("merge-unfinished", text, KeepAs.BRANCH)


_EXCESS_TEXTS = {
    ChangeProblemKind.TOO_MANY_FILES: "it touches very many files",
    ChangeProblemKind.FILE_TOO_LARGE: "it adds, changes or deletes a very large file",
    ChangeProblemKind.TOO_LARGE: "it is very large in all",
    ChangeProblemKind.SUBMODULE: "it moves a submodule",
}


def _object_to_secrets(leaks: Sequence[Leak]) -> Objection | None:
    """Object to a secret; the change is not published, not even as a patch."""
    if not leaks:
        return None
    text = (
        "The change holds what looks like a secret, so nothing of it was pushed:\n\n"
        f"{_list_leaks(leaks)}\n\n"
        "Say where the value should come from instead, such as a variable of the "
        "environment. An example can be written with the word EXAMPLE in it."
    )
    return Objection("secret-in-diff", text, KeepAs.NOTHING)


def _object_to_private_words(
    versions: Sequence[FileVersions], private: PrivateWords | None
) -> Objection | None:
    """Object to private words in a public repository."""
    leaks = find_repeated(versions, private) if private else ()
    if private is None or not leaks:
        return None
    where = "" if private.are_known_here else " where it was said"
    text = (
        "The change repeats what was said in private, and everybody can read the "
        f"repository, so nothing of it was pushed:\n\n{_list_leaks(leaks)}\n\n"
        "Say what should stand there instead, or answer `share`, after calling me"
        f"{where}, if it may be shown."
    )
    keep = KeepAs.PATCH if private.are_known_here else KeepAs.NOTHING
    return Objection("private-words", text, keep)


def _list_leaks(leaks: Sequence[Leak]) -> str:
    places = "\n".join(
        f"- {inline_code(leak.path)}, line {leak.line}" for leak in leaks[:_SHOWN]
    )
    more = len(leaks) - _SHOWN
    return f"{places}\n- and {more} more" if more > 0 else places


def _object_to_protected_paths(
    protected: Sequence[RuleViolation], file: str
) -> Objection | None:
    """Object to protected paths; a changed workflow would run as soon as it is pushed.

    https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#push
    """
    if not protected:
        return None
    rules = "\n".join(
        f"- {inline_code(one.rule)}: {_list_changes(one.changes)}" for one in protected
    )
    text = (
        f"The change touches paths that `protected_paths` in {inline_code(file)} "
        f"protects, so it was not proposed:\n\n{rules}"
    )
    touched = (change for one in protected for change in one.changes)
    runs = any(is_ci(c.path) or is_ci(c.old_path or c.path) for c in touched)
    keep = KeepAs.PATCH if runs else KeepAs.BRANCH
    return Objection("protected-paths", text, keep)


def _list_changes(changes: Sequence[ChangedPath]) -> str:
    names = [inline_code(change.shown) for change in changes[:_SHOWN]]
    more = len(changes) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
