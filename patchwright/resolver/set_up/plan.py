"""Decide which inferred set-up a run uses, and say so before it is used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.security.hosts import Domain, read_domain
from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.escape import inline_code
from patchwright.core.types.work import Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.set_up.inference import (
    SetUpStep,
    infer_steps,
    is_of_interest,
)

# Lock files of large projects are a few MB; the hosts of a larger one are the usual.
_MAX_FILE_BYTES: Final = 8 << 20
_MOST_FILES: Final = 200


@dataclass(frozen=True)
class SetUpPlan:
    """The commands of a set-up that was inferred, and notes for people about it."""

    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def with_inferred_set_up(
    task: Task, code: ObjectStore, config: RepositoryConfig, sandbox: SandboxSettings
) -> Task:
    """Return the task with a set-up, if its repository says nothing about one.

    An empty list is an answer too. Only files of the trusted commit count: a pull
    request does not choose what is run. What is inferred may fail. Raises GitError.
    """
    if not sandbox.infer_setup or task.setup or "setup" in config.model_fields_set:
        return task
    steps = infer_steps(_read_manifests(code, task.trusted_sha or task.base_sha))
    plan = plan_set_up(steps, sandbox, config.file)
    return task.replace(
        setup=plan.commands,
        setup_is_inferred=bool(plan.commands),
        setup_may_fail=bool(plan.commands) or task.setup_may_fail,
        notes=(*task.notes, *plan.notes),
    )


def _read_manifests(code: ObjectStore, commit: str) -> dict[str, str]:
    paths = [path for path in code.list_files(commit) if is_of_interest(path)]
    found = code.read_files(commit, paths[:_MOST_FILES], _MAX_FILE_BYTES)
    return {
        path: content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
        for path, content in found.items()
    }


def plan_set_up(
    steps: Sequence[SetUpStep], sandbox: SandboxSettings, config_file: str
) -> SetUpPlan:
    """Choose the steps whose registries a sandbox may reach, and explain the others."""
    open_to = tuple(map(read_domain, sandbox.allow_domains))
    chosen: list[SetUpStep] = []
    notes: list[str] = []
    for step in steps:
        closed = _closed_hosts(step.hosts, sandbox, open_to)
        if closed:
            notes.append(_left_out_note(step, closed, sandbox))
        else:
            chosen.append(step)
    if chosen:
        notes.insert(0, _inferred_note(chosen, config_file))
    commands = tuple(command for step in chosen for command in step.commands)
    return SetUpPlan(commands, tuple(notes))


def _closed_hosts(
    hosts: Iterable[str], sandbox: SandboxSettings, open_to: Sequence[Domain]
) -> tuple[str, ...]:
    if sandbox.network == "allow":
        return ()
    if sandbox.network == "deny":
        return tuple(hosts)
    return tuple(
        host
        for host in hosts
        if not any(domain.covers(read_domain(host)) for domain in open_to)
    )


def _inferred_note(steps: Sequence[SetUpStep], config_file: str) -> str:
    told = ", ".join(
        f"{inline_code(step.shown)} (from {inline_code(step.source)})" for step in steps
    )
    return (
        f"Set-up of the sandbox, inferred from the repository: {told}. Write "
        f"`setup = [...]` into {inline_code(config_file)} to change it."
    )


def _left_out_note(
    step: SetUpStep, closed: Sequence[str], sandbox: SandboxSettings
) -> str:
    hosts = ", ".join(map(inline_code, closed))
    what = f"{inline_code(step.shown)} (from {inline_code(step.source)})"
    missing = (
        f"the sandbox has no network, and needs {hosts}."
        if sandbox.network == "deny"
        else f"the sandbox must not reach {hosts}."
    )
    opens = "`sandbox.network` and " if sandbox.network == "deny" else ""
    who = f"Whoever runs Patchwright can allow that: {opens}`sandbox.allow_domains`."
    return f"The sandbox was not set up with {what}: {missing} {who}"
