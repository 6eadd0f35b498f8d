"""Resolve an issue or work on a pull request, given by its URL."""

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from patchwright.core.errors import SettingsError
from patchwright.core.events.types import OutcomeReached, Source
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.switchboard import Switchboard
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import Mirrors
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.resolver.admission import Policy
from patchwright.resolver.delivering.deliverer import Deliverer
from patchwright.resolver.delivering.destination import Means
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.effects import (
    AdornPullRequest,
    AnswerReviews,
    AskPrivately,
    AttachLink,
    Effect,
    FinalMessage,
    Invite,
    MirrorMessage,
    MoveTicket,
    OpenPullRequest,
    Ping,
    PushBranch,
    ReportCheck,
    SwapLabels,
    UnknownEffect,
    UpdatePullRequest,
    plan_effects,
)
from patchwright.resolver.hearing import hear
from patchwright.resolver.messages.status import Delivered, Frame
from patchwright.resolver.thread_urls import read_thread_url
from patchwright.resolver.triage import Ask, has_asked, needs_input, triage
from patchwright.workers.cli.options import Deliver
from patchwright.workers.cli.session import Finished, Session
from patchwright.workers.connections import connect_github, trust_for_git
from patchwright.workers.run.permissions import known_permission
from patchwright.workers.run.plan import Plan, destination
from patchwright.workers.run.prepare import (
    Prepared,
    Request,
    Sources,
    fetch_thread,
    prepare,
)
from patchwright.workers.store.cleaning import clean_thread


def resolve_remote(session: Session, url: str, deliver: Deliver) -> Finished:
    """Work on a thread with the rights of the configured token or App."""
    thread = read_url(url, session.settings.github)
    cache = MemoryTokenCache()
    github = connect_github(session.settings.github, cache, session.clock)
    with closing(github):
        trigger = _trigger(thread, github)
        trusted = trust_for_git(session.settings.github)
        mirrors = Mirrors(session.settings.state_dir / "mirrors", trusted)
        sources = Sources(Switchboard(github.channel), github.forge, mirrors)
        session.console.print(f"Fetching {thread.repo.full_name}")
        config_bytes = github.forge.fetch_file(thread.repo, CONFIG_FILE)
        config = read_repository_config(config_bytes)
        read = fetch_thread(sources.channel, trigger, session.clock.now())
        heard = hear(
            [clean_thread(session.redactor.redact_json, read)],
            config.context_from,
            [trigger.actor],
            partial(known_permission, github.forge, thread.repo),
        )
        [found] = heard.threads
        judged = triage(found, trigger)
        if (
            session.settings.agent.triage
            and isinstance(judged, Ask)
            and not has_asked(sources.channel, found.ref)
        ):
            return Finished(needs_input(judged), Delivered())
        request = Request(
            run_id=session.run_id,
            trigger=trigger,
            thread=found,
            asked_at=session.clock.now(),
            config=config,
        )
        session, notes = session.heeding(config)
        prepared = prepare(sources, request).with_notes((*notes, *heard.notes))
        return _work_on(session, github, request, prepared, deliver)


def _work_on(
    session: Session,
    github: GitHub,
    request: Request,
    prepared: Prepared,
    deliver: Deliver,
) -> Finished:
    code, config = prepared.mirror.objects, request.config
    outcome = session.resolve(
        prepared.task,
        code,
        prepared.trusted_sha,
        config=config,
        images=prepared.images,
    )
    delivered = Delivered()
    # What must not become a branch there is still wanted here.
    is_wanted = outcome.as_patch and deliver is not Deliver.NONE
    if outcome.head_sha and (is_wanted or deliver is Deliver.PATCH):
        session.write_patch(code, outcome)
    else:
        delivery = _Delivery(session, github, request.trigger, prepared, config)
        delivered = delivery.run(outcome, deliver)
    code.release(session.run_id)
    ended = as_delivered(outcome, delivered)
    if ended.kind is not outcome.kind:
        session.log.append(Source.SYSTEM, OutcomeReached(outcome=ended))
    return Finished(ended, delivered)


def read_url(url: str, github: GitHubSettings) -> ForgeThread:
    """Return the thread; a token goes there, so its host must be the configured one."""
    thread = read_thread_url(url, github.web_url)
    if thread is None:
        raise SettingsError(
            f"{url} is not an issue or pull request on {github.web_url}; expected "
            f"{github.web_url}/OWNER/NAME/issues/7, and github.api_url says which host"
        )
    return thread


def _trigger(thread: ForgeThread, github: GitHub) -> Trigger:
    """Put the wish of whoever runs the command into the form of a request."""
    asker = github.fetch_identity() or Actor(service="github", login="somebody")
    return Trigger(
        key=f"cli:{thread}",
        kind=TriggerKind.BODY_MENTION,
        actor=asker.replace(is_bot=False),
        thread=thread,
        request="",
    )


@dataclass(frozen=True)
class _Delivery:
    session: Session
    github: GitHub
    trigger: Trigger
    prepared: Prepared
    config: RepositoryConfig

    def run(self, outcome: Outcome, deliver: Deliver) -> Delivered:
        forge, channel = self.github.forge, self.github.channel
        deliverer = Deliverer(
            Means(
                forge,
                Switchboard(channel),
                channel,
                lambda: self.prepared.mirror,
                forge_signs=self.session.settings.github.is_signed_by_github,
                clock=self.session.clock,
            ),
            Policy(allow_users=frozenset({self.trigger.actor.login})),
        )
        to = destination(self._plan(), self.trigger)
        delivered = Delivered()
        for effect in plan_effects(outcome, self.prepared.target, self.config):
            if wanted := _wanted(effect, deliver):
                delivered = deliverer.perform(wanted, outcome, to, delivered)
        return delivered

    def _plan(self) -> Plan:
        frame = Frame(
            run_id=self.session.run_id,
            requester=self.trigger.actor.login,
            handle=self.session.settings.github.mention,
            model=self.session.models.main.name,
            limits=self.session.settings.limits.of_a_run(),
        )
        return Plan(
            frame=frame,
            repository=self.prepared.repository,
            target=self.prepared.target,
            config=self.config,
            review_threads=self.prepared.review_threads,
            names=dict(self.prepared.names),
            template=self.prepared.template,
            checks_need_nudge=self.github.starts_no_checks,
        )


def _wanted(effect: Effect, deliver: Deliver) -> Effect | None:
    """Return the effect as `--deliver` wants it, or None if it does not."""
    match effect:
        case (
            FinalMessage()
            | Ping()
            | SwapLabels()
            | ReportCheck()
            | MirrorMessage()
            | AttachLink()
            | MoveTicket()
            | AskPrivately()
            | Invite()
            | UnknownEffect()
        ):
            return None
        case PushBranch():
            return None if deliver in (Deliver.NONE, Deliver.PATCH) else effect
        case OpenPullRequest() | UpdatePullRequest():
            if deliver is Deliver.DRAFT:
                return effect.replace(draft=True)
            return effect if deliver is Deliver.READY else None
        case AdornPullRequest() | AnswerReviews():
            return effect if deliver in (Deliver.DRAFT, Deliver.READY) else None
        case _:
            assert_never(effect)
