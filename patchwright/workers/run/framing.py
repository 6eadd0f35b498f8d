"""Fix what every message of a run shows around its news."""

from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.marks import plain_name
from patchwright.core.types.threads import ForgeThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.messages.status import MessageHeader
from patchwright.resolver.placing.openness import RunVisibility
from patchwright.workers.run.budget import max_raise_usd_of
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.wishes import apply_configuration
from patchwright.workers.store.job import Job


def handle_of(settings: Settings, thread: ThreadRef) -> str:
    """Return what calls us in a thread; in Slack our app has the same name."""
    is_jira = thread.service == "jira"
    return settings.jira.mention if is_jira else settings.github.mention


def label_of(settings: Settings, thread: ThreadRef) -> str:
    """Return the label that starts a run in a thread."""
    return settings.jira.label if thread.service == "jira" else settings.github.label


def make_message_header(services: RunServices, job: Job, config: RepositoryConfig) -> MessageHeader:
    settings = apply_configuration(services.settings, config).settings
    by_label = job.trigger.kind is TriggerKind.LABEL
    frame = MessageHeader(
        run_id=job.id,
        requester=_name_of(job.trigger),
        handle=handle_of(settings, job.trigger.thread),
        model=services.find_models(settings.agent.model).main.name,
        limits=settings.limits.of_a_run(),
        asked_at=job.created_at,
        label=label_of(settings, job.trigger.thread) if by_label else "",
        run_url=services.find_page(job.id, job.created_at),
        is_beside_code=isinstance(job.trigger.thread, ForgeThread),
        repo=_repo_of(job.trigger),
        config_file=config.file,
        forge_url=settings.github.web_url,
        max_raise_usd=max_raise_usd_of(services.settings.limits),
        work_at=services.overrides.work_at.format(run=job.id[:8]),
    )
    # In a chat or a ticket others read along than may read the repository.
    return frame if frame.is_beside_code else frame.without_link_key()


def _repo_of(trigger: Trigger) -> str:
    """Return where the work is, if the thread does not say it by itself."""
    if isinstance(trigger.thread, ForgeThread) or trigger.repo is None:
        return ""
    return trigger.repo.full_name


def _name_of(trigger: Trigger) -> str:
    """Return who asked; whoever is not known to the forge has any name they like."""
    if isinstance(trigger.thread, ForgeThread) or trigger.person is not None:
        return trigger.asker.login
    return plain_name(trigger.actor.login)


def without_ticket_key(frame: MessageHeader, openness: RunVisibility) -> MessageHeader:
    """Return it with a link to the run that opens for who may see it by their rights.

    The usual one opens for whoever has it, and the page shows what must be kept out.
    """
    return frame.without_link_key() if openness.keeps_out else frame
