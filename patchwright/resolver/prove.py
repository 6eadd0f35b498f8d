"""Prove a change: run its tests in fresh sandboxes, without it and with it."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from patchwright.core.errors import SandboxError
from patchwright.core.events.types import (
    CommandOutput,
    ControlAct,
    ControlCommand,
    EvidenceRecorded,
    RunCommand,
    SandboxObservation,
    Source,
)
from patchwright.core.runtime import Runtime
from patchwright.core.text.fence import inline_code
from patchwright.core.types.work import Evidence, EvidenceRole, Proof
from patchwright.integrations.git.changes import ChangedPath
from patchwright.integrations.git.paths import find_tests
from patchwright.resolver.guards.tampering import changed_tests
from patchwright.resolver.toolkit import Toolkit
from patchwright.sandbox.workspace import Workspace

MAX_COMMANDS = 5
COMMAND_LIMIT_S = 900.0
_TAIL_CHARS = 2_000
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024
# What a shell answers when it cannot run a command at all: no test has failed then.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
_NOT_RUN = (126, 127)


def judge(evidence: Sequence[Evidence]) -> Proof:
    """Return what the evidence amounts to: red on base and green on head, or not."""
    before = [one for one in evidence if one.role is EvidenceRole.BEFORE]
    after = [one for one in evidence if one.role is EvidenceRole.AFTER]
    if not before or not after:
        return Proof.NOT_PROVEN
    red = all(one.exit_code not in (0, None, *_NOT_RUN) for one in before)
    green = all(one.exit_code == 0 for one in after)
    return Proof.PROVEN if red and green else Proof.NOT_PROVEN


def find_regressions(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Say which commands the change breaks when the tests are as they were."""
    return tuple(
        f"{inline_code(one.command)} fails on the changed code with the tests of the "
        "base. It passed before the change."
        for one in evidence
        if one.role is EvidenceRole.BASE_TESTS and one.exit_code != 0
    )


def prove(
    kit: Toolkit, base_sha: str, head_sha: str, commands: Sequence[str]
) -> tuple[Evidence, ...]:
    """Run the commands on base plus the new tests, and on head; record what came of it.

    Where tests of the base were changed, they are run as they were, too. The runs know
    nothing of each other, so they run side by side.
    """
    chosen = [command for command in commands if command.strip()][:MAX_COMMANDS]
    if not chosen:
        return ()
    changes = kit.code.changed_paths(base_sha, head_sha)
    tests = [changed.path for changed in find_tests(changes)]
    before_sha = (
        kit.code.with_tests_of(base_sha, head_sha, tests) if tests else base_sha
    )
    with ThreadPoolExecutor(2, thread_name_prefix="evidence") as pool:
        before = pool.submit(_run_all, kit, EvidenceRole.BEFORE, before_sha, chosen)
        after = pool.submit(_run_all, kit, EvidenceRole.AFTER, head_sha, chosen)
        then = pool.submit(_run_old_tests, kit, base_sha, head_sha, chosen, changes)
        evidence = (*before.result(), *after.result(), *then.result())
    for one in evidence:
        kit.log.append(Source.SYSTEM, EvidenceRecorded(evidence=one))
    return evidence


def _run_old_tests(
    kit: Toolkit,
    base_sha: str,
    head_sha: str,
    commands: Sequence[str],
    changes: Sequence[ChangedPath],
) -> list[Evidence]:
    """Run the commands on head with the base's tests, where that tells anything.

    A command that fails on the base itself, such as one that names a new test, says
    nothing about the change.
    """
    paths = changed_tests(changes)
    if not paths:
        return []
    commit = kit.code.with_tests_of(head_sha, base_sha, paths)
    role = EvidenceRole.BASE_TESTS
    ran = _run_all(kit, role, commit, commands)
    failed = [one.command for one in ran if one.exit_code != 0]
    before = _run_all(kit, role, base_sha, failed) if failed else []
    passed_before = {one.command for one in before if one.exit_code == 0}
    return [one for one in ran if one.exit_code == 0 or one.command in passed_before]


def _run_all(
    kit: Toolkit, role: EvidenceRole, commit: str, commands: Sequence[str]
) -> list[Evidence]:
    spec = kit.spec.model_copy(update={"role": "evidence"})
    runtime = kit.sandboxes.start(spec)
    try:
        Workspace.check_out(runtime, kit.code.bundle(commit), commit, "evidence")
        evidence = []
        for number, command in enumerate(commands):
            started = kit.clock.monotonic()
            output = _run_one(runtime, f"{role}-{number}", command)
            evidence.append(
                Evidence(
                    role=role,
                    command=command,
                    commit=commit,
                    exit_code=output.exit_code,
                    seconds=round(kit.clock.monotonic() - started, 3),
                    digest=_digest(runtime, output),
                    tail=output.output[-_TAIL_CHARS:],
                )
            )
        return evidence
    finally:
        runtime.close()


def _run_one(runtime: Runtime, name: str, command: str) -> CommandOutput:
    """Run one command in a shell of its own; one that does not end is killed."""
    action = RunCommand(command=command, session=name, timeout_s=COMMAND_LIMIT_S)
    output = _command_output(runtime.run(action, name))
    if not output.still_running:
        return output
    kill = ControlCommand(handle=output.handle, act=ControlAct.KILL)
    killed = _command_output(runtime.run(kill, f"{name}-kill"))
    return killed.model_copy(update={"exit_code": None})


def _command_output(observation: SandboxObservation) -> CommandOutput:
    if isinstance(observation, CommandOutput):
        return observation
    raise SandboxError(f"the evidence command could not be run: {observation}")


def _digest(runtime: Runtime, output: CommandOutput) -> str:
    whole = output.output.encode("utf-8", "surrogatepass")
    if output.full_output_path:
        whole = runtime.download(output.full_output_path, _MAX_OUTPUT_BYTES)
    return hashlib.sha256(whole).hexdigest()
