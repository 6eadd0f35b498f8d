"""Resolve an issue or work on a pull request, given by its URL."""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from patchwright.core.channel import ChannelRouter
from patchwright.core.errors import SettingsError
from patchwright.core.events.types import OutcomeReached, Source
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.configured import connect_github, trust_for_git
from patchwright.integrations.github.plugin import NAME
from patchwright.resolver.admission import AdmissionPolicy
from patchwright.resolver.context.thread_history import filter_comments
from patchwright.resolver.effects import (
    AnswerReviews,
    Effect,
    NotificationEffect,
    OpenPullRequest,
    PushBranch,
    RunEffect,
    SetPullMetadata,
    UnknownEffect,
    UpdatePullRequest,
    plan_effects,
)
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader
from patchwright.resolver.publish.destination import PublisherDependencies
from patchwright.resolver.publish.publisher import Publisher, as_delivered
from patchwright.resolver.repository_references import read_thread_url
from patchwright.resolver.triage import (
    TriageQuestion,
    has_asked,
    needs_input_outcome,
    triage,
)
from patchwright.workers.cli.run_commands import DeliveryChoice
from patchwright.workers.cli.session import FinishedRun, RunSession
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.plan import RunPlan, destination
from patchwright.workers.run.preparation import (
    PreparationRequest,
    Prepared,
    Sources,
    fetch_thread,
    prepare,
)
from patchwright.workers.store.redaction import clean_thread


def resolve_remote(
    session: RunSession, url: str, deliver: DeliveryChoice
) -> FinishedRun:
    """Work on a thread with the rights of the configured token or App."""
    thread = read_url(url, session.settings.github)
    cache = MemoryTokenCache()
    github = connect_github(session.settings.github, cache, session.clock)
    with closing(github):
        trigger = _trigger(thread, github)
        trusted = trust_for_git(session.settings.github)
        mirrors = MirrorCache(session.settings.state_dir / "mirrors", trusted)
        sources = Sources(ChannelRouter(github.channel), github.forge, mirrors)
        session.console.print(f"Fetching {thread.repo.full_name}")
        config_bytes = github.forge.fetch_file(thread.repo, CONFIG_FILE)
        config = read_repository_config(config_bytes)
        read = fetch_thread(sources.channel, trigger, session.clock.now())
        heard = filter_comments(
            [clean_thread(session.redactor.redact_json, read)],
            config.context_from,
            [trigger.actor],
            partial(find_permission, github.forge, thread.repo),
        )
        [found] = heard.threads
        judged = triage(found, trigger)
        if (
            session.settings.agent.triage
            and isinstance(judged, TriageQuestion)
            and not has_asked(sources.channel, found.ref)
        ):
            return FinishedRun(needs_input_outcome(judged), DeliveryResult())
        request = PreparationRequest(
            run_id=session.run_id,
            trigger=trigger,
            thread=found,
            asked_at=session.clock.now(),
            config=config,
        )
        session, notes = session.with_repository_config(config)
        prepared = prepare(sources, request).with_notes((*notes, *heard.notes))
        return _work_on(session, github, request, prepared, deliver)


def _work_on(
    session: RunSession,
    github: GitHub,
    request: PreparationRequest,
    prepared: Prepared,
    deliver: DeliveryChoice,
) -> FinishedRun:
    code, config = prepared.mirror.objects, request.config
    outcome = session.resolve(
        prepared.task,
        code,
        prepared.trusted_sha,
        config=config,
        images=prepared.images,
    )
    delivered = DeliveryResult()
    # What must not become a branch there is still wanted here.
    is_wanted = outcome.as_patch and deliver is not DeliveryChoice.NONE
    if outcome.head_sha and (is_wanted or deliver is DeliveryChoice.PATCH):
        session.write_patch(code, outcome)
    else:
        delivery = _RemoteDelivery(session, github, request.trigger, prepared, config)
        delivered = delivery.run(outcome, deliver)
    code.release(session.run_id)
    ended = as_delivered(outcome, delivered)
    if ended.kind is not outcome.kind:
        session.log.append(Source.SYSTEM, OutcomeReached(outcome=ended))
    return FinishedRun(ended, delivered)


def read_url(url: str, github: GitHubSettings) -> ForgeThread:
    """Return the thread; a token goes there, so its host must be the configured one."""
    thread = read_thread_url(url, github.web_url)
    if thread is None:
        raise SettingsError(
            f"{url} is not an issue or pull request on {github.web_url}; expected "
            f"{github.web_url}/OWNER/NAME/issues/7, on the host of github.api_url"
        )
    return thread


def _trigger(thread: ForgeThread, github: GitHub) -> Trigger:
    """Make a request from what the user of the command asks for."""
    asker = github.fetch_identity() or Actor(service=NAME, login="somebody")
    return Trigger(
        key=f"cli:{thread}",
        kind=TriggerKind.BODY_MENTION,
        actor=asker.replace(is_bot=False),
        thread=thread,
        request="",
    )


@dataclass(frozen=True)
class _RemoteDelivery:
    session: RunSession
    github: GitHub
    trigger: Trigger
    prepared: Prepared
    config: RepositoryConfig

    def run(self, outcome: Outcome, deliver: DeliveryChoice) -> DeliveryResult:
        forge, channel = self.github.forge, self.github.channel
        deliverer = Publisher(
            PublisherDependencies(
                forge,
                ChannelRouter(channel),
                channel,
                lambda: self.prepared.mirror,
                forge_signs=self.session.settings.github.is_signed_by_github,
                clock=self.session.clock,
            ),
            AdmissionPolicy(
                forge=NAME, allow_users=frozenset({self.trigger.actor.login})
            ),
        )
        to = destination(self._plan(), self.trigger)
        delivered = DeliveryResult()
        for effect in plan_effects(outcome, self.prepared.target, self.config):
            if wanted := _as_chosen(effect, deliver):
                delivered = deliverer.perform(wanted, outcome, to, delivered)
        return delivered

    def _plan(self) -> RunPlan:
        frame = MessageHeader(
            run_id=self.session.run_id,
            requester=self.trigger.actor.login,
            handle=self.session.settings.github.mention,
            model=self.session.models.main.name,
            limits=self.session.settings.limits.of_a_run(),
        )
        return RunPlan(
            frame=frame,
            repository=self.prepared.repository,
            target=self.prepared.target,
            config=self.config,
            review_threads=self.prepared.review_threads,
            names=dict(self.prepared.names),
            template=self.prepared.template,
            checks_need_nudge=self.github.starts_no_checks,
        )


def _as_chosen(effect: Effect, deliver: DeliveryChoice) -> Effect | None:
    """Return the effect as `--deliver` wants it, or None if it does not."""
    if isinstance(effect, NotificationEffect | RunEffect | UnknownEffect):
        return None
    match effect:
        case PushBranch():
            return (
                None
                if deliver in (DeliveryChoice.NONE, DeliveryChoice.PATCH)
                else effect
            )
        case OpenPullRequest() | UpdatePullRequest():
            if deliver is DeliveryChoice.DRAFT:
                return effect.replace(draft=True)
            return effect if deliver is DeliveryChoice.READY else None
        case SetPullMetadata() | AnswerReviews():
            return (
                effect
                if deliver in (DeliveryChoice.DRAFT, DeliveryChoice.READY)
                else None
            )
        case _:
            assert_never(effect)
