"""Resolve an issue or a pull request on the forge, with the usual steps of a run."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import assert_never

from rich.text import Text

from patchwright.core.channel import ChannelRouter
from patchwright.core.events.observations import OutcomeReached
from patchwright.core.events.payload import Source
from patchwright.core.plugin import ForgeConnection, ServiceDirectory
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import (
    FollowUpTrigger,
)
from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
    PermissionDeniedError,
    SettingsError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import FileStat, Outcome
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.integrations.mcp.launcher import open_servers
from patchwright.integrations.registry import describe_services, find_forge
from patchwright.resolver.attempt import INTERNAL
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.delivery import SecondProof, fetch_commits, make_deliverer
from patchwright.resolver.job import Job, JobState
from patchwright.resolver.messages.readers import Reader
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.effects import (
    AnswerReviews,
    Effect,
    NotificationEffect,
    OpenPullRequest,
    PushBranch,
    RefreshEvidence,
    RunEffect,
    SetPullMetadata,
    UnknownEffect,
    UpdatePullRequest,
    plan_effects,
)
from patchwright.resolver.publish.live import UNSEEN
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.resolver.run import End, Run, Step
from patchwright.resolver.run_plan import AttemptResult, destination
from patchwright.resolver.run_store import COMMITS
from patchwright.resolver.services import RunOverrides, StepServices, code_host_of
from patchwright.resolver.steps import STEPS, open_run, run_job
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.memory_store import (
    MemoryRunStore,
    chat_services,
)
from patchwright.workers.cli.resolve_command import DeliveryChoice, ResolveOptions
from patchwright.workers.cli.session import BROKEN, RunSession
from patchwright.workers.cli.target import ThreadTarget
from patchwright.workers.plugins.connections import connect_forge

_WRITES = (DeliveryChoice.BRANCH, DeliveryChoice.DRAFT, DeliveryChoice.READY)
_READS = (DeliveryChoice.PATCH, DeliveryChoice.NONE)
_READ_ONLY = (
    "To open a pull request, the token must belong to somebody who may write to the "
    "repository. With `--deliver patch` it is enough to read it."
)


class UnknownThreadError(SettingsError):
    """The forge has no such repository or thread, or hides it from the token."""

    reason = NotFoundError.reason


def resolve_remote(
    session: RunSession,
    target: ThreadTarget,
    options: ResolveOptions,
    token_found_in: str,
) -> FinishedRun:
    """Work on a thread with the permissions of the token or app.

    Raises `UnknownThreadError` before anything starts.
    """
    deliver = options.deliver or DeliveryChoice.DRAFT
    plugin = find_forge(session.settings)
    directory = describe_services(session.settings)
    connected = connect_forge(plugin, session.settings, MemoryVault(), session.clock)
    with closing(connected) as forge, _token_named(token_found_in):
        thread = find_thread(forge, target)
        _announce(session, thread, target)
        # The token of a workflow's job belongs to no person.
        nobody = Actor(service=plugin.name, login="somebody", is_bot=True)
        asker = forge.fetch_identity() or nobody
        services = _services(session, forge, directory, asker, options)
        job = _job(session, thread, asker)
        store = MemoryRunStore(session.log, session.redactor.redact_json)
        run = open_run(services, job, store, 1, session.interruption.release_signal)
        done = run_job(services, run, (*STEPS[:-1], _watched(session, STEPS[-1])))
        if not isinstance(done, AttemptResult):
            raise TypeError("a run without other conversations moves to none")
        done = replace(done, outcome=_with_advice(done.outcome, token_found_in))
        with session.interruption.delivering():
            return _Delivery(session, services, run, done, deliver).finish()


def find_thread(forge: ForgeConnection, target: ThreadTarget) -> ForgeThread:
    """Return the thread as the forge has it: a number may be of a pull request."""
    thread = target.thread
    try:
        if target.is_kind_known:
            forge.channel.fetch_thread(thread)
            return thread
        forge.forge.fetch_repository(thread.repo)
        with suppress(NotFoundError):
            pull = forge.forge.fetch_pull_request(thread.repo, thread.number)
            return pull.thread(thread.repo)
        forge.channel.fetch_thread(thread)
    except NotFoundError:
        raise UnknownThreadError(_unknown_text(forge, thread)) from None
    return thread


def _unknown_text(forge: ForgeConnection, thread: ForgeThread) -> str:
    name = thread.repo.full_name
    try:
        forge.forge.fetch_repository(thread.repo)
    except NotFoundError:
        return f"there is no repository {name}, or the token cannot see it"
    return (
        f"{name} has no {thread.kind.words} {thread.number}, or the token cannot see it"
    )


@contextmanager
def _token_named(found_in: str) -> Iterator[None]:
    """Say which token it was where the forge does not accept it."""
    try:
        yield
    except (AuthenticationError, PermissionDeniedError, UnknownThreadError) as error:
        raise type(error)(f"{error}. The token is from {found_in}.") from error


def _announce(session: RunSession, thread: ForgeThread, target: ThreadTarget) -> None:
    kind = thread.kind.words.capitalize()
    remark = f" ({target.remark})" if target.remark else ""
    line = f"{kind} {thread.number} of {thread.repo.full_name}{remark}"
    session.console.print(Text(line), soft_wrap=True)


def _job(session: RunSession, thread: ForgeThread, asker: Actor) -> Job:
    """Make a request from the options of the command."""
    trigger = Trigger(
        key=f"cli:{thread}",
        kind=TriggerKind.BODY_MENTION,
        actor=asker.replace(is_bot=False),
        thread=thread,
        request="",
    )
    return Job(
        id=JobId(session.run_id),
        conversation_id=ConversationId(session.run_id),
        state=JobState.RUNNING,
        trigger=trigger,
        created_at=session.clock.now(),
        attempts=1,
        outcome=None,
    )


def _services(
    session: RunSession,
    forge: ForgeConnection,
    directory: ServiceDirectory,
    asker: Actor,
    options: ResolveOptions,
) -> StepServices:
    settings = session.settings
    is_read_only = options.plans or options.deliver in _READS
    if is_read_only or asker.is_bot:
        settings = _admitting(settings, asker)
    return StepServices(
        settings=settings,
        clock=session.clock,
        code_host=code_host_of(forge),
        channel=ChannelRouter(forge.channel),
        chat=chat_services(directory.forge),
        mirrors=MirrorCache(settings.state_dir / "mirrors", forge.git_environment),
        sandboxes=session.sandboxes,
        find_models=lambda _name: session.models,
        agent_configuration=session.agent_configuration,
        open_mcp=open_servers,
        find_known=session.redactor.find_known,
        find_page=lambda _run: "",
        find_link=lambda _run, _at: "",
        directory=directory,
        overrides=_overrides(options),
        live=UNSEEN,
    )


def _overrides(options: ResolveOptions) -> RunOverrides:
    """Let the user of the command choose the model, the tests and whether to plan.

    Triggers for automatic runs do not matter here. Only who may write can ask about the
    permission of others; others would read nobody's comments.
    """
    config: dict[str, object] = {"model": "", "triggers": tuple(FollowUpTrigger)}
    if options.tests:
        config["test"] = options.tests
    if options.plans:
        config["plan_approval"] = "comment"
    return RunOverrides(
        config=config,
        # Others than writers cannot ask what people may, and would read nobody.
        defaults={"context_from": "all-marked"},
        waits_for_people=False,
        looks_for_competitors=False,
        reader=Reader.OPERATOR,
    )


def _admitting(settings: Settings, asker: Actor) -> Settings:
    """Return settings that let the user of the command pass the access check.

    They are used if nothing is written to the forge. They are also used with the token
    of an app or of a workflow's job: then only the token's own permissions count.
    """
    security = settings.security
    named = (*security.allow_users, asker.login)
    return settings.replace(security=security.replace(allow_users=named))


def _watched(session: RunSession, work: Step) -> Step:
    """Show the progress on the console."""

    def watch(services: StepServices, run: Run) -> Run | End:
        settings = apply_configuration(services.settings, run.plan.config).settings
        with session.watched(run.log, settings.limits.of_a_run()):
            return work(services, run)

    return watch


@dataclass(frozen=True)
class _Delivery:
    """Carries out the effects of a run that `--deliver` selects."""

    session: RunSession
    services: StepServices
    run: Run
    done: AttemptResult
    deliver: DeliveryChoice

    def finish(self) -> FinishedRun:
        outcome, delivered = self.done.outcome, DeliveryResult()
        files, patch = self._files(outcome), None
        # A change that must not be pushed is still wanted here as a patch.
        is_wanted = outcome.as_patch and self.deliver is not DeliveryChoice.NONE
        if outcome.head_sha and (is_wanted or self.deliver is DeliveryChoice.PATCH):
            patch = self.session.write_patch(self._mirror.objects, outcome)
        else:
            delivered = self._perform(outcome)
            if _is_lost(outcome, delivered) and self.deliver in _WRITES:
                patch = self.session.write_patch(self._mirror.objects, outcome)
        if outcome.head_sha:
            self._mirror.objects.release(self.run.job.id)
        ended = as_delivered(outcome, delivered)
        return FinishedRun(self._recorded(ended), delivered, files, patch)

    def _files(self, outcome: Outcome) -> tuple[FileStat, ...]:
        if not outcome.head_sha:
            return ()
        objects = self._mirror.objects
        return objects.count_by_file(outcome.base_sha, outcome.head_sha)

    def _perform(self, outcome: Outcome) -> DeliveryResult:
        plan, delivered = self.done.plan, DeliveryResult()
        proof = SecondProof(self.services, self.run.job, self.run.store, plan)
        publisher = make_deliverer(
            self.services, plan, lambda: self._mirror, proof.prove
        )
        to = destination(plan, self.run.trigger)
        for effect in plan_effects(outcome, plan.target, plan.config):
            if wanted := _as_chosen(effect, self.deliver):
                delivered = publisher.perform(wanted, outcome, to, delivered)
        return delivered

    @cached_property
    def _mirror(self) -> Mirror:
        """The repository, with the commits of the run."""
        forge = self.services.code_host.forge
        return fetch_commits(
            self.services,
            self.done.plan,
            self.done.outcome,
            self.run.job.id,
            packed=self.done.artifacts.get(COMMITS),
            find_present=lambda known: forge.fetch_repository(known.ref),
        )

    def _recorded(self, ended: Outcome) -> Outcome:
        """Record the outcome, unless the log has it already."""
        reached = frozenset({"outcome_reached"})
        newest = self.run.log.read(limit=1, reverse=True, kinds=reached)
        known = [e.payload for e in newest if isinstance(e.payload, OutcomeReached)]
        if not known:
            return self.session.record_early_end(ended)
        if known[0].outcome.kind is not ended.kind:
            self.run.log.append(Source.SYSTEM, OutcomeReached(outcome=ended))
        return ended


def _with_advice(outcome: Outcome, token_found_in: str) -> Outcome:
    """Add where to find details, and how to get the change without write permission."""
    if outcome.reason == INTERNAL:
        return outcome.replace(summary=BROKEN, service_text=BROKEN)
    if outcome.reason not in ("not-permitted", "permission-unknown"):
        return outcome
    token = f"The token is from {token_found_in}."
    text = f"{outcome.service_text} {_READ_ONLY} {token}"
    return outcome.replace(summary=text, service_text=text)


def _is_lost(outcome: Outcome, delivered: DeliveryResult) -> bool:
    """Tell whether the work of a run is nowhere, though it was to be written."""
    return bool(outcome.head_sha) and not delivered.branch


def _as_chosen(effect: Effect, deliver: DeliveryChoice) -> Effect | None:
    """Return the effect as `--deliver` selects it, or None if it is not wanted."""
    if isinstance(effect, NotificationEffect | RunEffect | UnknownEffect):
        return None
    opens = deliver in (DeliveryChoice.DRAFT, DeliveryChoice.READY)
    match effect:
        case PushBranch():
            return effect if deliver in _WRITES else None
        case OpenPullRequest() | UpdatePullRequest():
            if deliver is DeliveryChoice.DRAFT:
                return effect.replace(draft=True)
            return effect if opens else None
        case RefreshEvidence() | SetPullMetadata() | AnswerReviews():
            return effect if opens else None
        case _:
            assert_never(effect)
