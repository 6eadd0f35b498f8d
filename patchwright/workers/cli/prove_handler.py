"""Carry out `patchwright prove`: no model is asked, and nothing is delivered."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.runtime import RuntimeFactory
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import (
    GitError,
    NotFoundError,
    PatchwrightError,
    SettingsError,
)
from patchwright.core.types.evidence import Proof
from patchwright.integrations.git.local import LocalRepository
from patchwright.resolver.branch_proof import prove_change
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.proof.branch_change import (
    BranchChange,
    BranchProof,
    NoChangeError,
    find_change,
)
from patchwright.resolver.prove import ProofDependencies
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes, sandbox_spec
from patchwright.sandbox.factory import create_factory, find_fallback
from patchwright.workers.cli.interruption import INTERRUPTED, interruptible
from patchwright.workers.cli.proof_report import (
    failure_as_json,
    print_branch_proof,
    proof_as_object,
)
from patchwright.workers.cli.run_commands import ProveOptions
from patchwright.workers.cli.session import view_of
from patchwright.workers.cli.terminal import load_command_settings

PROVEN: Final = 0
NOT_PROVEN: Final = 1


class StoppedError(PatchwrightError):
    """Somebody has stopped the proof."""

    reason = "asked"


@dataclass(frozen=True)
class _ProofSession:
    """What a proof works with, and the console that tells how it goes."""

    settings: Settings
    run_id: str
    clock: Clock
    console: Console
    redactor: Redactor
    sandboxes: RuntimeFactory
    log: JsonlEventLog


def run_prove(options: ProveOptions) -> int:
    """Return the exit code: 0 for a change that is proven, 1 for any other.

    Raises `SettingsError` for what cannot be compared, and other errors for a sandbox
    or a repository that cannot be used.
    """
    try:
        return _run(options)
    except PatchwrightError as error:
        if options.as_object:
            typer.echo(failure_as_json(error))
        if isinstance(error, StoppedError):
            Console(stderr=True, quiet=options.is_silent).print(f"{error}")
            return INTERRUPTED
        raise


def _run(options: ProveOptions) -> int:
    settings = load_command_settings(options.flags, options.config)
    repository = _open(options)
    change = _find_change(repository, options)
    with _open_session(settings, options) as session:
        proof = _prove(session, repository, change, options)
        shown = session.redactor.redact_json
        if options.as_object:
            typer.echo(proof_as_object(proof, shown))
        else:
            print_branch_proof(Console(), proof, shown)
    return PROVEN if proof.result.level is Proof.PROVEN else NOT_PROVEN


def _open(options: ProveOptions) -> LocalRepository:
    try:
        return LocalRepository.open(options.folder)
    except GitError as error:
        raise SettingsError(f"-C: {error}") from error


def _find_change(repository: LocalRepository, options: ProveOptions) -> BranchChange:
    target_sha = _resolve(repository, "--base", options.base)
    head_sha = _resolve(repository, "--head", options.head)
    try:
        change = find_change(repository.objects, target_sha, head_sha)
        for commit in (change.base_sha, head_sha):
            repository.objects.require_files(commit)
    except NoChangeError as error:
        names = f"--base {options.base}, --head {options.head}"
        raise SettingsError(f"{names}: {error}") from error
    except GitError as error:
        raise SettingsError(f"-C: {error}") from error
    return change


def _resolve(repository: LocalRepository, option: str, revision: str) -> str:
    try:
        return repository.resolve(revision)
    except NotFoundError:
        raise SettingsError(
            f"{option}: {revision!r} is not a commit, branch or tag of this "
            "repository; `git branch --all` lists its branches, and `git fetch` "
            "fetches others"
        ) from None
    except GitError as error:
        raise SettingsError(f"{option}: {error}") from error


@contextmanager
def _open_session(settings: Settings, options: ProveOptions) -> Iterator[_ProofSession]:
    clock, redactor = SystemClock(), Redactor(secret_values(settings))
    set_up_logging(redactor.redact_json, as_json=settings.log_json)
    with (
        tempfile.TemporaryDirectory(prefix="patchwright-proof-") as folder,
        JsonlEventLog(
            Path(folder) / "events.jsonl", redactor.redact_json, clock
        ) as log,
        interruptible() as interruption,
    ):
        chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
        # There may be no service on this machine that does it.
        chosen.reap()
        console = Console(stderr=True, quiet=options.is_silent)
        if fallback := find_fallback(chosen):
            console.print(Text(f"{fallback}"), soft_wrap=True)
        yield _ProofSession(
            settings=settings,
            run_id=RandomIds().new(),
            clock=clock,
            console=console,
            redactor=redactor,
            sandboxes=InterruptibleSandboxes(chosen, interruption.release_signal),
            log=log,
        )


def _prove(
    session: _ProofSession,
    repository: LocalRepository,
    change: BranchChange,
    options: ProveOptions,
) -> BranchProof:
    """Prove the change by the settings that the repository had before it."""
    config = _read_config(repository, change, options)
    applied = apply_configuration(session.settings, config.replace(model=""))
    sandbox = applied.settings.sandbox
    view = view_of(
        repository,
        change.base_sha,
        sandbox,
        session.sandboxes.kind,
        prepares_itself=bool(config.setup),
    )
    if view.shows_environment:
        # In what is shown nothing can be installed, and nothing needs to be.
        config = config.replace(on_setup_failure="continue")
        sandbox = sandbox.replace(infer_setup=False)
    spec = sandbox_spec(applied.settings, session.run_id).replace(
        places=view.places, environment=view.environment
    )
    dependencies = ProofDependencies(
        session.sandboxes, spec, repository.objects, session.log, session.clock
    )
    with _progress(session.console, change, (view.note, *view.refused)):
        proof = prove_change(change, options.commands, config, sandbox, dependencies)
    notes = (*_unseen(repository, change), *applied.notes, *proof.notes)
    return replace(proof, notes=notes)


@contextmanager
def _progress(
    console: Console, change: BranchChange, words: Sequence[str]
) -> Iterator[None]:
    """Say what is proven, and on a terminal that it goes on; hear of a signal."""
    size = change.size
    doing = (
        f"Proving {change.name}: {count_noun(size.files, 'file')}, "
        f"+{size.insertions} -{size.deletions}"
    )
    for line in filter(None, (*words, doing)):
        console.print(Text(line), soft_wrap=True)
    try:
        with console.status(Text("Running the tests in fresh sandboxes")):
            yield
    except KeyboardInterrupt as told:
        raise StoppedError(f"Stopped by {told}; nothing was shown.") from None


def _read_config(
    repository: LocalRepository, change: BranchChange, options: ProveOptions
) -> RepositoryConfig:
    found = repository.objects.read_file(change.base_sha, CONFIG_FILE)
    config = read_repository_config(found)
    return config.replace(setup=options.setup) if options.setup else config


def _unseen(repository: LocalRepository, change: BranchChange) -> tuple[str, ...]:
    """Say that uncommitted changes were not seen, where somebody could think so."""
    try:
        is_here = repository.resolve() == change.head_sha
    except GitError:
        return ()
    if not is_here or not repository.has_uncommitted_changes():
        return ()
    return ("Uncommitted changes were ignored.",)
