"""Find the parts of a change that its proving tests do not need."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import EvidenceRole, Hunk, TestVerdict
from patchwright.integrations.git.changes import shown_path
from patchwright.integrations.git.hunks import ChangePart
from patchwright.resolver.guards.tampering import is_source
from patchwright.resolver.proof.comparison import is_believed, verdicts_of
from patchwright.resolver.proof.lanes import Deadline, Lane
from patchwright.resolver.proof.proof_sandbox import FileReplacement

MOST_PARTS: Final = 30


@dataclass(frozen=True)
class ProvingRun:
    """A command, and the tests among those that it runs by which a change is proven.

    Without `tests` its runner names none, and the command stands for them.
    """

    command: str
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class HunkCoverage:
    """`uncovered` are the parts without which the tests pass too.

    Without `needs_code` the tests pass even without all changed code.
    """

    uncovered: tuple[Hunk, ...] = ()
    hunks: int = 0
    tried: int = 0
    needs_code: bool = True


def find_uncovered(
    lane: Lane, parts: Sequence[ChangePart], runs: Sequence[ProvingRun], until: Deadline
) -> HunkCoverage:
    """Take each part out in turn, and run the tests.

    `lane` has the whole change, and has it again afterwards. A part in which only
    comments differ needs no run.
    """

    def is_green_without(some: Sequence[ChangePart]) -> bool:
        return _is_green_without(lane, some, runs, until)

    tried: list[ChangePart] = []
    idle: list[ChangePart] = []
    for part in parts[:MOST_PARTS]:
        if until.has_passed:
            break
        is_idle = _is_comment(part) or is_green_without([part])
        if until.has_passed and not is_idle:
            break  # it may only have been too slow
        tried.append(part)
        if is_idle:
            idle.append(part)
    code = [part for part in parts if is_source(part.path)]
    hunks = (
        Hunk(path=shown_path(one.path), start=one.start, lines=one.lines)
        for one in idle
    )
    return HunkCoverage(
        tuple(hunks),
        len(parts),
        len(tried),
        _needs_code(code, tried, idle, is_green_without),
    )


def _needs_code(
    code: Sequence[ChangePart],
    tried: Sequence[ChangePart],
    idle: Sequence[ChangePart],
    is_green_without: Callable[[Sequence[ChangePart]], bool],
) -> bool:
    """Tell whether the tests need any changed code, where there is any.

    Two parts of which each would do alone are needed all the same.
    """
    seen = [part for part in code if part in tried]
    if not seen or any(part not in idle for part in seen):
        return True
    return len(code) > 1 and not is_green_without(_whole_files(code))


def _whole_files(parts: Sequence[ChangePart]) -> Sequence[ChangePart]:
    """Return one part for each file: everything that was changed in it."""
    return [
        ChangePart(path, 1, 0, one.before, one.after, one.before, one.is_executable)
        for path, one in {part.path: part for part in parts}.items()
    ]


def _is_green_without(
    lane: Lane,
    parts: Sequence[ChangePart],
    runs: Sequence[ProvingRun],
    until: Deadline,
) -> bool:
    lane.sandbox.replace_files(_contents(parts, lambda part: part.without))
    try:
        return all(_is_green(lane, run, until) for run in runs)
    finally:
        lane.sandbox.replace_files(_contents(parts, lambda part: part.after))


def _contents(
    parts: Sequence[ChangePart], content: Callable[[ChangePart], bytes | None]
) -> Mapping[str, FileReplacement]:
    return {
        part.path: FileReplacement(content(part), part.is_executable) for part in parts
    }


def _is_green(lane: Lane, run: ProvingRun, until: Deadline) -> bool:
    done = lane.run(EvidenceRole.WITHOUT_PART, run.command, until)
    if not run.tests:
        return done.exit_code == 0 and (done.results is None or is_believed(done))
    verdicts = verdicts_of(done)
    return all(verdicts.get(name) is TestVerdict.PASSED for name in run.tests)


def _is_comment(part: ChangePart) -> bool:
    """Tell whether a part changes only what Python does not read."""
    if not part.path.endswith(".py") or part.after is None or part.without is None:
        return False
    try:
        return ast.dump(ast.parse(part.after)) == ast.dump(ast.parse(part.without))
    except (SyntaxError, ValueError, RecursionError):
        return False
