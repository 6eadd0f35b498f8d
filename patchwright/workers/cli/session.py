"""What a run on the command line works with."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import OutcomeReached, ResultDelivered
from patchwright.core.events.payload import Source
from patchwright.core.events.state import RunState, fold
from patchwright.core.llm.model import Image, Models
from patchwright.core.llm.waiting import FIRST_CALL
from patchwright.core.runtime import RuntimeFactory
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.work import Limits, Outcome, Task
from patchwright.integrations.git.local import LocalRepository
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.mcp.launcher import open_servers
from patchwright.integrations.registry import find_forge
from patchwright.resolver.configuration import apply_configuration, commit_author_of
from patchwright.resolver.context.repository_files import RepositoryLibrary
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.resolve import resolve
from patchwright.resolver.services import AgentConfiguration, RunDependencies
from patchwright.resolver.set_up.cache import open_set_up_cache
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes, sandbox_spec
from patchwright.sandbox.factory import create_factory, find_fallback
from patchwright.sandbox.local.local_view import (
    NO_LOCAL_VIEW,
    LocalView,
    Machine,
    find_local_view,
)
from patchwright.workers.agent_configuration import (
    make_agent_configuration,
    make_models,
    warm_up,
)
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.interruption import Interruption, interruptible
from patchwright.workers.cli.live import live_view
from patchwright.workers.cli.memory_store import open_budget

BROKEN: Final = "Patchwright had an internal error; standard error has the details."
# The kind of sandboxes that can show places of this machine.
SHOWS_PLACES: Final = "bubblewrap"


@dataclass(frozen=True)
class RunSession:
    """One run: its settings, its id, its log, and the console it is watched on."""

    settings: Settings
    run_id: str
    clock: Clock
    console: Console
    redactor: Redactor
    models: Models
    agent_configuration: AgentConfiguration
    interruption: Interruption
    sandboxes: RuntimeFactory
    log: JsonlEventLog
    events: Path
    view: LocalView = NO_LOCAL_VIEW

    def with_repository_config(
        self, config: RepositoryConfig
    ) -> "tuple[RunSession, tuple[str, ...]]":
        """Return the run with the repository's settings, and the ignored settings.

        The user of the command chooses the model.
        """
        applied = apply_configuration(self.settings, config.replace(model=""))
        return replace(self, settings=applied.settings), applied.notes

    def with_local_view(
        self, repository: LocalRepository, base_sha: str, *, prepares_itself: bool
    ) -> "RunSession":
        """Return the run whose sandboxes show what the user has installed.

        Only bubblewrap's do. A repository that `prepares_itself`, where it can fetch
        packages, installs them in the sandbox instead: what is shown is read-only.
        """
        view = view_of(
            repository,
            base_sha,
            self.settings.sandbox,
            self.sandboxes.kind,
            prepares_itself=prepares_itself,
        )
        for line in filter(None, (view.note, *view.refused)):
            self.console.print(Text(line), soft_wrap=True)
        return replace(self, view=view)

    def resolve(
        self,
        task: Task,
        code: ObjectStore,
        trusted_sha: str,
        *,
        config: RepositoryConfig,
        images: Mapping[str, Image] | None = None,
    ) -> Outcome:
        """Work on the task while the console shows how it goes.

        What the commit `trusted_sha` says for agents can be looked up.
        """
        library = RepositoryLibrary(code, trusted_sha, config.instructions)
        dependencies = replace(
            self._dependencies(code, config, library), images=images or {}
        )
        with self.watched(self.log, dependencies.limits):
            return resolve(task, dependencies).outcome

    @contextmanager
    def watched(self, log: EventLog, limits: Limits) -> Iterator[None]:
        """Show how the work goes on, and let Ctrl-C ask its agent to stop."""
        watch = ProgressTracker(self.sandboxes.kind, self.clock.now())
        with (
            live_view(self.console, log, watch, limits, self.clock),
            self.interruption.asking(log),
        ):
            yield

    def _dependencies(
        self, code: ObjectStore, config: RepositoryConfig, library: RepositoryLibrary
    ) -> RunDependencies:
        forge = find_forge(self.settings).describe(self.settings)
        return RunDependencies(
            run_id=self.run_id,
            models=self.models,
            sandboxes=self.sandboxes,
            spec=sandbox_spec(self.settings, self.run_id).replace(
                places=self.view.places, environment=self.view.environment
            ),
            code=code,
            log=self.log,
            limits=self.settings.limits.of_a_run(),
            run_budget=open_budget(self.settings.limits),
            clock=self.clock,
            author=commit_author_of(forge),
            agent_configuration=self.agent_configuration,
            library=library,
            open_mcp=partial(open_servers, self.settings),
            release_signal=self.interruption.release_signal,
            protected_paths=config.kept_for_people,
            config_file=config.file,
            find_known=self.redactor.find_known,
            signing_key=forge.commit_key,
            set_up_cache=open_set_up_cache(self.settings, self.clock),
            repository=str(code.git.path.resolve()),
        )

    def record_early_end(self, ended: Outcome) -> Outcome:
        """Write down how a run ended that did not come to its end, and its figures."""
        events = self.log.read()
        state = reduce(fold, events, RunState())
        took = self.clock.now() - events[0].at if events else timedelta()
        outcome = ended.replace(
            usage=state.usage,
            iterations=state.iterations,
            seconds=round(took.total_seconds(), 1),
        )
        self.log.append(Source.SYSTEM, OutcomeReached(outcome=outcome))
        return outcome

    def record_result(self, finished: FinishedRun) -> None:
        """Write down where the result is."""
        delivered = finished.delivered
        result = ResultDelivered(
            folder=str(finished.folder or ""),
            branch=delivered.branch,
            head_sha=delivered.head_sha or finished.outcome.head_sha,
            pull_request_url=delivered.pull_request_url,
            patch=str(finished.patch or ""),
            files=finished.files,
        )
        self.log.append(Source.SYSTEM, result)

    def write_patch(self, code: ObjectStore, outcome: Outcome) -> Path:
        """Write the commit as a mail that `git am` applies, into this folder."""
        path = Path(f"patchwright-{self.run_id[:8]}.patch").resolve()
        path.write_bytes(code.format_patch(outcome.base_sha, outcome.head_sha))
        return path


def view_of(
    repository: LocalRepository,
    base_sha: str,
    sandbox: SandboxSettings,
    kind: str,
    *,
    prepares_itself: bool,
) -> LocalView:
    """Return what sandboxes of this kind show of the user's environment, if anything.

    A repository that `prepares_itself`, where it can fetch packages, installs them.
    """
    is_wanted = sandbox.toolchains == "auto" and kind == SHOWS_PLACES
    if not is_wanted or repository.root is None:
        return NO_LOCAL_VIEW
    is_offline = sandbox.network == "deny"
    return find_local_view(
        repository.root,
        Machine.here(process_environment(), is_offline=is_offline),
        partial(repository.tracked_among, base_sha),
        with_environments=is_offline or not prepares_itself,
    )


@contextmanager
def open_session(
    settings: Settings, events: Path | None, *, quiet: bool
) -> Iterator[RunSession]:
    """Start a run. Its events go to `events`, or to a file in the state folder."""
    clock, run_id = SystemClock(), RandomIds().new()
    models, configuration = (
        make_models(settings, clock, first_call=FIRST_CALL),
        make_agent_configuration(settings),
    )
    warm_up(settings)
    redactor = Redactor(secret_values(settings))
    # Somebody at a terminal sees what goes on in better words.
    level = logging.INFO if settings.log_json else logging.WARNING
    set_up_logging(redactor.redact_json, as_json=settings.log_json, level=level)
    path = events or settings.state_dir / "runs" / f"{run_id}.jsonl"
    try:
        log = JsonlEventLog(path, redactor.redact_json, clock)
    except OSError as error:
        raise SettingsError(f"the events cannot be written: {error}") from error
    console = Console(stderr=True, quiet=quiet)
    with log, interruptible(console) as interruption:
        chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
        # There may be no service on this machine that does it.
        chosen.reap()
        if fallback := find_fallback(chosen):
            console.print(Text(f"{fallback}"), soft_wrap=True)
        yield RunSession(
            settings=settings,
            run_id=run_id,
            clock=clock,
            console=console,
            redactor=redactor,
            models=models,
            agent_configuration=configuration,
            interruption=interruption,
            sandboxes=InterruptibleSandboxes(chosen, interruption.release_signal),
            log=log,
            events=path,
        )
